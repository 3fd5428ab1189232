//! Reading the line that `ssh-keygen` writes.

use md5::{Digest as _, Md5};
use ssh_key::{HashAlg, PublicKey, public::KeyData};

/// What kind of key it is, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rsa,
    Dsa,
    Ecdsa,
    Ed25519,
    EcdsaSk,
    Ed25519Sk,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Rsa, Self::Dsa, Self::Ecdsa, Self::Ed25519, Self::EcdsaSk, Self::Ed25519Sk];

    pub fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Dsa => "DSA",
            Self::Ecdsa => "ECDSA",
            Self::Ed25519 => "ED25519",
            Self::EcdsaSk => "ECDSA_SK",
            Self::Ed25519Sk => "ED25519_SK",
        }
    }
}

/// A key that could be read.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub kind: Kind,
    pub bits: usize,
    /// Kind and data, without the comment.
    pub text: String,
    /// Base64 without padding, as `ssh-keygen -l` shows it.
    pub sha256: String,
    /// Hexadecimal with colons.
    pub md5: String,
}

impl Parsed {
    /// Reads a public key; line ends within it, as terminals leave them, do not matter.
    pub fn read(text: &str) -> Option<Self> {
        let key = PublicKey::from_openssh(&joined(text)).ok()?;
        let (kind, bits) = kind_of(key.key_data())?;
        Some(Self {
            kind,
            bits,
            text: PublicKey::new(key.key_data().clone(), "").to_openssh().ok()?.trim().to_owned(),
            sha256: sha256_of(key.key_data()),
            md5: md5_of(&key.to_bytes().ok()?),
        })
    }
}

/// Fingerprints of keys whose private halves everybody has: they came with devices and images.
const COMPROMISED: &str = include_str!("compromised.txt");

impl Parsed {
    /// Whether everybody could use the key.
    pub fn is_compromised(&self) -> bool {
        COMPROMISED.lines().any(|known| known == self.sha256)
    }
}

/// The fingerprint by which keys are looked up.
pub fn sha256_of(key: &KeyData) -> String {
    let shown = key.fingerprint(HashAlg::Sha256).to_string();
    shown.strip_prefix("SHA256:").unwrap_or(&shown).to_owned()
}

/// A pasted key may have been broken over lines: only the blank after its kind and that before its comment separate.
fn joined(text: &str) -> String {
    let text = text.trim();
    let unbroken: String = text.split(['\r', '\n']).map(str::trim_end).collect();
    unbroken.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn kind_of(key: &KeyData) -> Option<(Kind, usize)> {
    match key {
        KeyData::Rsa(key) => Some((Kind::Rsa, bits(key.n.as_positive_bytes()?))),
        KeyData::Dsa(key) => Some((Kind::Dsa, bits(key.p.as_positive_bytes()?))),
        KeyData::Ecdsa(key) => Some((
            Kind::Ecdsa,
            match key.curve() {
                ssh_key::EcdsaCurve::NistP256 => 256,
                ssh_key::EcdsaCurve::NistP384 => 384,
                ssh_key::EcdsaCurve::NistP521 => 521,
            },
        )),
        KeyData::Ed25519(_) => Some((Kind::Ed25519, 256)),
        KeyData::SkEcdsaSha2NistP256(_) => Some((Kind::EcdsaSk, 256)),
        KeyData::SkEd25519(_) => Some((Kind::Ed25519Sk, 256)),
        _ => None,
    }
}

fn bits(number: &[u8]) -> usize {
    let unused = number.first().map_or(0, |byte| byte.leading_zeros());
    (number.len() * 8).saturating_sub(usize::try_from(unused).unwrap_or_default())
}

fn md5_of(bytes: &[u8]) -> String {
    let pairs: Vec<String> = Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::{Kind, Parsed};

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    #[test]
    fn a_key_is_read_without_its_comment() {
        let key = Parsed::read(&format!("  {KEY} foo bar@example.com\r\n")).unwrap();
        assert_eq!((key.kind, key.bits, key.text.as_str()), (Kind::Ed25519, 256, KEY));
        assert_eq!(key.sha256, "UCUiLr7Pjs9wFFJMDByLgc3NrtdU344OgUM45wZPcIQ");
        assert_eq!(key.md5.len(), 47);
    }

    #[test]
    fn a_key_that_was_broken_over_lines_is_the_same_key() {
        let (first, second) = KEY.split_at(40);
        assert_eq!(Parsed::read(&format!("{first}\n{second} me\n")).unwrap().text, KEY);
    }

    #[test]
    fn what_is_no_key_is_none() {
        let private = "-----BEGIN OPENSSH PRIVATE KEY-----";
        let cut = &KEY[..60];
        let other_kind = KEY.replace("ssh-ed25519", "ssh-rsa");
        for text in ["", "ssh-ed25519", "nonsense", private, cut, &other_kind] {
            assert!(Parsed::read(text).is_none(), "{text}");
        }
    }
}
