//! The signer that a commit or tag claims.

use bstr::ByteSlice as _;

use crate::git::SignedObject;

/// The address in the line that names who made the object: a commit's committer, a tag's tagger.
pub fn signer_email(signed: &SignedObject) -> Option<String> {
    let headers = signed.payload.lines().take_while(|line| !line.is_empty());
    let maker = |line: &[u8]| line.starts_with(b"committer ") || line.starts_with(b"tagger ");
    let line = headers.into_iter().find(|line| maker(line))?;
    let end = line.rfind_byte(b'>')?;
    let start = line[..end].rfind_byte(b'<')? + 1;
    Some(String::from_utf8_lossy(&line[start..end]).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{SignedObject, signer_email};

    fn of(payload: &str) -> Option<String> {
        signer_email(&SignedObject { signature: "".into(), payload: payload.into() })
    }

    #[test]
    fn the_line_of_the_maker_counts_and_no_line_of_the_message() {
        let commit = "tree 1\nauthor A <a@x> 1 +0000\ncommitter C <c@x> 2 +0000\n\ncommitter E <e@x> 3 +0000\n";
        assert_eq!(of(commit).as_deref(), Some("c@x"));
        assert_eq!(of("object 1\ntagger T < t@x > 1 +0000\n\nhi\n").as_deref(), Some("t@x"));
        assert_eq!(of("tree 1\n\ncommitter E <e@x> 3 +0000\n"), None);
        assert_eq!(of("committer nobody 3 +0000\n"), None);
    }
}
