//! The encoding of a file's content in a request.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;

kernel::text_enum! {
    /// The encoding of a file's content in a request.
    pub enum Encoding { Text = "text", Base64 = "base64" }
}

impl Encoding {
    /// The content itself; `None` when it is no Base64. Line breaks in it do not matter.
    pub fn decode(self, content: Bytes) -> Option<Bytes> {
        match self {
            Self::Text => Some(content),
            Self::Base64 => {
                let written: Vec<u8> =
                    content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64_STANDARD.decode(written).ok().map(Bytes::from)
            }
        }
    }
}
