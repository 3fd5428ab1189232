//! Headers of file responses.

use bstr::{BStr, ByteSlice as _};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};
use repo::commit::FileFacts;

use crate::vendor::FileHeader;

/// The facts about a file, under both of their names.
pub fn headers(facts: &FileFacts, checksum: &str, ref_name: &str) -> Vec<(&'static str, String)> {
    use FileHeader::{
        BlobId, CommitId, ContentSha256, Encoding, ExecuteFilemode, FileName, FilePath,
        LastCommitId, Ref, Size,
    };
    let values = [
        (BlobId, facts.entry.id.to_string()),
        (CommitId, facts.commit.to_string()),
        (ContentSha256, checksum.to_owned()),
        (Encoding, "base64".to_owned()),
        (ExecuteFilemode, facts.entry.is_executable().to_string()),
        (FileName, sendable(facts.entry.path.name())),
        (FilePath, sendable(facts.entry.path.as_bstr())),
        (LastCommitId, facts.last_commit.to_string()),
        (Ref, sendable(ref_name.as_bytes().as_bstr())),
        (Size, facts.size.to_string()),
    ];
    let twice =
        |(header, value): (FileHeader, String)| header.names().map(|name| (name, value.clone()));
    values.into_iter().flat_map(twice).collect()
}

/// Text as it is; what no header can hold is written as in a URL.
fn sendable(text: &BStr) -> String {
    match text.to_str() {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => percent_encode(text, CONTROLS).to_string(),
    }
}

const IN_FILE_NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Shown in place or only saved, under its own name.
pub fn disposition(name: &BStr, is_inline: bool) -> String {
    let way = if is_inline { "inline" } else { "attachment" };
    let plain: String = name
        .to_str_lossy()
        .chars()
        .map(|c| if c.is_ascii_graphic() && !matches!(c, '"' | '\\') || c == ' ' { c } else { '_' })
        .collect();
    format!("{way}; filename=\"{plain}\"; filename*=UTF-8''{}", percent_encode(name, IN_FILE_NAME))
}

/// The beginnings by which files that are no text are known. Nothing here can carry a script.
const KINDS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM\0", "image/bmp"),
    (0, b"\0\0\x01\0", "image/x-icon"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
];
/// As far as git looks for a NUL.
const LOOKED_AT: usize = 8000;

/// `text/plain` for every text, whatever it says, so that no browser runs it; else the type of the content.
pub fn content_kind(beginning: &[u8]) -> &'static str {
    let is_at =
        |at: usize, mark: &[u8]| beginning.get(at..).is_some_and(|rest| rest.starts_with(mark));
    let head = &beginning[..beginning.len().min(LOOKED_AT)];
    let is_text = std::str::from_utf8(head).is_ok() && !head.contains(&0);
    if is_text && !is_at(0, b"%PDF-") {
        return "text/plain";
    }
    let known = KINDS.iter().find(|(at, mark, _)| is_at(*at, mark));
    match known {
        Some((_, _, kind)) => kind,
        None if head.contains(&0) => "application/octet-stream",
        None => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use bstr::ByteSlice as _;

    use super::{content_kind, disposition, sendable};

    #[test]
    fn only_what_is_no_text_has_a_type_of_its_own() {
        for (content, kind) in [
            (&b""[..], "text/plain"),
            (b"<html><script>", "text/plain"),
            (b"<svg xmlns=", "text/plain"),
            (b"BZh is a text", "text/plain"),
            (b"caf\xe9", "text/plain"),
            (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"%PDF-1.7", "application/pdf"),
            (b"\0\x01\x02", "application/octet-stream"),
        ] {
            assert_eq!(content_kind(content), kind, "{content:?}");
        }
    }

    #[test]
    fn names_fit_into_headers() {
        assert_eq!(sendable(b"a b".as_bstr()), "a b");
        assert_eq!(sendable("ü".as_bytes().as_bstr()), "ü");
        assert_eq!(sendable(b"a\nb".as_bstr()), "a%0Ab");
        assert_eq!(sendable(b"caf\xe9".as_bstr()), "caf%E9");
        assert_eq!(
            disposition("\"ü\".txt".as_bytes().as_bstr(), true),
            "inline; filename=\"___.txt\"; filename*=UTF-8''%22%C3%BC%22.txt"
        );
    }
}
