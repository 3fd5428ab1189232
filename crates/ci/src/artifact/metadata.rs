//! The list of files in an archive, as a file of its own.

use std::io::{self, Read, Seek, Write};

use flate2::{Compression, write::GzEncoder};

use super::zip::{Entry, each_entry};

const VERSION: &str = "GitLab Build Artifacts Metadata 0.0.2\n";

/// Writes what is in an archive, packed.
///
/// # Errors
/// Where it is no zip file, or the list cannot be written.
pub fn write_metadata(archive: &mut (impl Read + Seek), into: impl Write) -> io::Result<()> {
    let mut packed = GzEncoder::new(into, Compression::default());
    text(&mut packed, VERSION.as_bytes())?;
    text(&mut packed, b"{}")?;
    each_entry(archive, |entry| {
        if is_plain(&entry.name) {
            text(&mut packed, &entry.name)?;
            text(&mut packed, fields(&entry).as_bytes())?;
        }
        Ok(false)
    })?;
    packed.finish().map(drop)
}

/// Behind its length.
fn text(into: &mut impl Write, text: &[u8]) -> io::Result<()> {
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    into.write_all(&length.to_be_bytes())?;
    into.write_all(text)
}

/// Whether a name leads nowhere else.
fn is_plain(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| {
        let parts = || name.trim_end_matches('/').split('/');
        !name.is_empty() && parts().all(|part| !matches!(part, "" | "." | ".."))
    })
}

fn fields(entry: &Entry) -> String {
    match entry.is_folder() {
        true => serde_json::json!({ "mode": format!("{:o}", entry.mode) }),
        false => serde_json::json!({
            "mode": format!("{:o}", entry.mode),
            "crc": entry.crc,
            "size": entry.size,
            "zipped": entry.compressed,
        }),
    }
    .to_string()
}
