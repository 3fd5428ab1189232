//! What a commit's signature says of itself. No keys are kept yet, so none can be told to be right.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bstr::ByteSlice as _;

use crate::git::SignedObject;

/// The kind of a signature, by its armour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// With the id of the key, as the signature names it.
    Pgp {
        key_id: Option<String>,
    },
    Ssh,
    X509,
}

impl SignatureKind {
    pub fn of(signed: &SignedObject) -> Self {
        let text = signed.signature.trim_start();
        if text.starts_with(b"-----BEGIN SSH SIGNATURE-----") {
            Self::Ssh
        } else if text.starts_with(b"-----BEGIN SIGNED MESSAGE-----") {
            Self::X509
        } else {
            Self::Pgp { key_id: dearmoured(text).and_then(|packet| issuer(&packet)) }
        }
    }
}

/// The bytes between the armour's blank line and its checksum.
fn dearmoured(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text.lines().skip_while(|line| !line.trim().is_empty()).skip(1).peekable();
    lines.peek()?;
    let body: Vec<u8> = lines
        .take_while(|line| !line.starts_with(b"=") && !line.starts_with(b"-----"))
        .flat_map(|line| line.trim().to_vec())
        .collect();
    BASE64_STANDARD.decode(body).ok()
}

/// The issuer of a signature packet (RFC 4880, 5.2): sixteen hexadecimal digits.
fn issuer(bytes: &[u8]) -> Option<String> {
    let body = packet_body(bytes)?;
    match body.first()? {
        3 => body.get(7..15).map(key_id),
        4 => {
            let hashed = usize::from(u16::from_be_bytes([*body.get(4)?, *body.get(5)?]));
            let rest = body.get(6 + hashed..)?;
            let unhashed = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
            let areas = [body.get(6..6 + hashed)?, rest.get(2..2 + unhashed)?];
            areas.into_iter().find_map(issuer_among)
        }
        _ => None,
    }
}

fn packet_body(bytes: &[u8]) -> Option<&[u8]> {
    let tag = *bytes.first()?;
    let is_signature = if tag & 0x40 != 0 { tag & 0x3f == 2 } else { (tag >> 2) & 0x0f == 2 };
    if tag & 0x80 == 0 || !is_signature {
        return None;
    }
    let after_length = match (tag & 0x40 != 0, tag & 3) {
        (true, _) => 1 + length(&bytes[1..])?.1,
        (false, 0) => 2,
        (false, 1) => 3,
        (false, 2) => 5,
        (false, _) => 1,
    };
    bytes.get(after_length..)
}

/// A length of one, two or five bytes, and how many those were.
fn length(bytes: &[u8]) -> Option<(usize, usize)> {
    let first = usize::from(*bytes.first()?);
    match first {
        0..=191 => Some((first, 1)),
        192..=254 => Some((((first - 192) << 8) + usize::from(*bytes.get(1)?) + 192, 2)),
        _ => {
            let four = <[u8; 4]>::try_from(bytes.get(1..5)?).ok()?;
            Some((usize::try_from(u32::from_be_bytes(four)).ok()?, 5))
        }
    }
}

fn issuer_among(mut subpackets: &[u8]) -> Option<String> {
    const ISSUER: u8 = 16;
    const ISSUER_FINGERPRINT: u8 = 33;
    while !subpackets.is_empty() {
        let (size, taken) = length(subpackets)?;
        let subpacket = subpackets.get(taken..taken + size)?;
        match subpacket.split_first() {
            Some((kind, id)) if kind & 0x7f == ISSUER && id.len() == 8 => return Some(key_id(id)),
            Some((kind, id)) if kind & 0x7f == ISSUER_FINGERPRINT && id.len() == 21 => {
                return Some(key_id(&id[13..]));
            }
            _ => {}
        }
        subpackets = &subpackets[taken + size..];
    }
    None
}

fn key_id(bytes: &[u8]) -> String {
    hex::encode_upper(bytes)
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    use super::{SignatureKind, SignedObject, issuer};

    fn signed(text: &str) -> SignedObject {
        SignedObject { signature: text.into(), payload: "".into() }
    }

    #[test]
    fn the_armour_tells_the_kind() {
        let kind = |text| SignatureKind::of(&signed(text));
        assert_eq!(kind("-----BEGIN SSH SIGNATURE-----\nU1NI\n"), SignatureKind::Ssh);
        assert_eq!(kind("-----BEGIN SIGNED MESSAGE-----\nMII\n"), SignatureKind::X509);
        assert_eq!(kind("nonsense"), SignatureKind::Pgp { key_id: None });
    }

    #[test]
    fn the_key_is_read_from_the_packet() {
        // Version 4, one hashed subpacket (creation time), one unhashed (issuer).
        let mut packet = vec![4, 0, 1, 8, 0, 6, 5, 2, 1, 2, 3, 4, 0, 10, 9, 16];
        packet.extend([0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3]);
        let mut bytes = vec![0x88, u8::try_from(packet.len()).unwrap()];
        bytes.extend(&packet);
        assert_eq!(issuer(&bytes).as_deref(), Some("DEADBEEF00010203"));
        let armoured = format!(
            "-----BEGIN PGP SIGNATURE-----\n\n{}\n=abcd\n-----END PGP SIGNATURE-----\n",
            BASE64_STANDARD.encode(&bytes)
        );
        let key_id = Some("DEADBEEF00010203".to_owned());
        assert_eq!(SignatureKind::of(&signed(&armoured)), SignatureKind::Pgp { key_id });
        for cut in 0..bytes.len() {
            let _ = issuer(&bytes[..cut]);
        }
    }
}
