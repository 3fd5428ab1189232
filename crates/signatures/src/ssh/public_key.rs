//! SSH public keys in the one-line format that `ssh-keygen` writes.

use md5::{Digest as _, Md5};
use ssh_key::{HashAlg, PublicKey as SshPublicKey, public::KeyData};

/// Algorithm of a key, in the order in which messages list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    Rsa,
    Dsa,
    Ecdsa,
    Ed25519,
    EcdsaSk,
    Ed25519Sk,
}

impl KeyType {
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

/// A parsed public key with its fingerprints.
#[derive(Clone, Debug)]
pub struct PublicKey {
    pub key_type: KeyType,
    pub bits: usize,
    /// Algorithm and data, without the comment.
    pub text: String,
    /// Base64 without padding, as `ssh-keygen -l` shows it.
    pub sha256: String,
    /// Hexadecimal with colons.
    pub md5: String,
}

/// Fingerprints of keys whose private halves are public: they were shipped with devices and images.
const COMPROMISED: &str = include_str!("compromised.txt");

impl PublicKey {
    /// Parses a public key; line breaks that a terminal inserted do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let key = SshPublicKey::from_openssh(&unwrapped(text)).ok()?;
        let (key_type, bits) = type_and_bits(key.key_data())?;
        let without_comment = SshPublicKey::new(key.key_data().clone(), "");
        Some(Self {
            key_type,
            bits,
            text: without_comment.to_openssh().ok()?.trim().to_owned(),
            sha256: sha256_fingerprint(key.key_data()),
            md5: md5_fingerprint(&key.to_bytes().ok()?),
        })
    }

    /// Whether the private key is publicly available.
    pub fn is_compromised(&self) -> bool {
        COMPROMISED.lines().any(|fingerprint| fingerprint == self.sha256)
    }
}

pub(super) fn sha256_fingerprint(key: &KeyData) -> String {
    let shown = key.fingerprint(HashAlg::Sha256).to_string();
    shown.strip_prefix("SHA256:").unwrap_or(&shown).to_owned()
}

/// Removes line breaks: only the blanks after the algorithm and before the comment separate.
fn unwrapped(text: &str) -> String {
    let text = text.trim();
    let line: String = text.split(['\r', '\n']).map(str::trim_end).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn type_and_bits(key: &KeyData) -> Option<(KeyType, usize)> {
    match key {
        KeyData::Rsa(key) => Some((KeyType::Rsa, bits(key.n.as_positive_bytes()?))),
        KeyData::Dsa(key) => Some((KeyType::Dsa, bits(key.p.as_positive_bytes()?))),
        KeyData::Ecdsa(key) => Some((
            KeyType::Ecdsa,
            match key.curve() {
                ssh_key::EcdsaCurve::NistP256 => 256,
                ssh_key::EcdsaCurve::NistP384 => 384,
                ssh_key::EcdsaCurve::NistP521 => 521,
            },
        )),
        KeyData::Ed25519(_) => Some((KeyType::Ed25519, 256)),
        KeyData::SkEcdsaSha2NistP256(_) => Some((KeyType::EcdsaSk, 256)),
        KeyData::SkEd25519(_) => Some((KeyType::Ed25519Sk, 256)),
        _ => None,
    }
}

fn bits(number: &[u8]) -> usize {
    let unused = number.first().map_or(0, |byte| byte.leading_zeros());
    (number.len() * 8).saturating_sub(usize::try_from(unused).unwrap_or_default())
}

fn md5_fingerprint(bytes: &[u8]) -> String {
    let pairs: Vec<String> = Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::{KeyType, PublicKey};

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    #[test]
    fn a_key_is_read_without_its_comment() {
        let key = PublicKey::parse(&format!("  {KEY} foo bar@example.com\r\n")).unwrap();
        assert_eq!((key.key_type, key.bits, key.text.as_str()), (KeyType::Ed25519, 256, KEY));
        assert_eq!(key.sha256, "UCUiLr7Pjs9wFFJMDByLgc3NrtdU344OgUM45wZPcIQ");
        assert_eq!(key.md5.len(), 47);
    }

    #[test]
    fn a_key_that_was_broken_over_lines_is_the_same_key() {
        let (first, second) = KEY.split_at(40);
        assert_eq!(PublicKey::parse(&format!("{first}\n{second} me\n")).unwrap().text, KEY);
    }

    #[test]
    fn what_is_no_key_is_none() {
        let private = "-----BEGIN OPENSSH PRIVATE KEY-----";
        let cut = &KEY[..60];
        let other_kind = KEY.replace("ssh-ed25519", "ssh-rsa");
        for text in ["", "ssh-ed25519", "nonsense", private, cut, &other_kind] {
            assert!(PublicKey::parse(text).is_none(), "{text}");
        }
    }
}
