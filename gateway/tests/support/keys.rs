//! Keys that tests make for themselves, and what is signed with them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pgp::{
    composed::{
        ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedPublicKey,
        SignedSecretKey, SubkeyParamsBuilder, SubpacketConfig,
    },
    crypto::hash::HashAlgorithm,
    packet::{Subpacket, SubpacketData},
    ser::Serialize as _,
    types::{KeyDetails, Password, SigningKey, Timestamp},
};
use ssh_key::{
    HashAlg, LineEnding, PrivateKey, PublicKey, private::Ed25519Keypair, rand_core::OsRng,
};

/// A real key of 1024 bits.
pub(crate) const SHORT_RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC28beUllgSUzUN/WfHSAlZ6n+OkNgwUC+nqrF39dLmHwYieC8uczvXsJ9AEKMve27FM6MQREDwKHQfF5iKQBrIzNoPs1L+2mXoFoBfsr83Hl5PnbRJOcttk7uX2mrEEtu5iV+7KxjX8JLdefupSgQFt06iQclwmlCKKlhZsYdSgQ==";

/// A key whose private half came with many virtual machines.
pub(crate) const KNOWN_TO_ALL: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAABIwAAAQEA6NF8iallvQVp22WDkTkyrtvp9eWW6A8YVr+kz4TjGYe7gHzIw+niNltGEFHzD8+v1I2YJ6oXevct1YeS0o9HZyN1Q9qgCgzUFtdOKLv6IedplqoPkcmF0aYet2PkEDo3MlTBckFXPITAMzF8dJSIFo9D8HfdOV0IAdx4O7PtixWKn5y2hMNG0zQPyUecp4pzC6kivAIhyfHilFR61RGL+GPXQ2MWZWFYbAGjyiYJnAmCP3NOTd0jMZEnDkbUvxhMmBYSdETk1rRgm+R4LOzFUGaHqHDLKLX+FIPKcF96hrucXzcWyLbIbEgE98OHlnVYCzRdK8jlqm8tehUc9c9WhQ==";

/// A new SSH key.
pub(crate) fn ssh() -> PrivateKey {
    Ed25519Keypair::from_seed(&rand::random()).into()
}

/// The public line of a key, without a comment.
pub(crate) fn line_of(key: &PrivateKey) -> String {
    key.public_key().to_openssh().expect("a key is written").trim().to_owned()
}

pub(crate) fn ssh_line() -> String {
    line_of(&ssh())
}

/// `SHA256:…`
pub(crate) fn sha256_of(line: &str) -> String {
    PublicKey::from_openssh(line).expect("a key").fingerprint(HashAlg::Sha256).to_string()
}

pub(crate) fn in_query(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// What `git commit -S` puts beside a commit with `gpg.format=ssh`.
pub(crate) fn ssh_signature(key: &PrivateKey, namespace: &str, payload: &[u8]) -> String {
    let signature = key.sign(namespace, HashAlg::Sha512, payload).expect("a key signs");
    signature.to_pem(LineEnding::LF).expect("a signature is written")
}

/// When PGP keys of tests are made, and when they sign.
pub(crate) const KEY_MADE: u32 = 1_600_000_000;
pub(crate) const SIGNED: u32 = 1_700_000_000;

/// A PGP key with a subkey for signing.
pub(crate) struct Pgp(SignedSecretKey);

impl Pgp {
    pub(crate) fn of(user_id: &str) -> Self {
        let made = Timestamp::from_secs(KEY_MADE);
        let subkey = SubkeyParamsBuilder::default()
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .created_at(made)
            .build()
            .expect("a subkey is described");
        let mut builder = SecretKeyParamsBuilder::default();
        builder
            .key_type(KeyType::Ed25519Legacy)
            .can_certify(true)
            .can_sign(true)
            .created_at(made)
            .primary_user_id(user_id.into())
            .subkey(subkey);
        let params = builder.build().expect("a key is described");
        Self(params.generate(OsRng).expect("a key is made"))
    }

    pub(crate) fn public(&self) -> String {
        let public = SignedPublicKey::from(self.0.clone());
        public.to_armored_string(ArmorOptions::default()).expect("a key is written")
    }

    /// The id of the first key.
    pub(crate) fn id(&self) -> String {
        hex::encode_upper(self.0.primary_key.legacy_key_id())
    }

    /// What `git commit -S` puts beside a commit.
    pub(crate) fn signature(&self, payload: &[u8]) -> String {
        armoured(&[signed(&self.0.primary_key, payload, SIGNED)])
    }

    /// As [`signature`](Self::signature), made at a moment.
    pub(crate) fn signature_at(&self, payload: &[u8], at: u32) -> String {
        armoured(&[signed(&self.0.primary_key, payload, at)])
    }

    pub(crate) fn signature_by_subkey(&self, payload: &[u8]) -> String {
        armoured(&[signed(&self.0.secret_subkeys[0].key, payload, SIGNED)])
    }

    /// Two signatures in one.
    pub(crate) fn two_signatures(&self, payload: &[u8]) -> String {
        let first = signed(&self.0.primary_key, payload, SIGNED);
        armoured(&[first, signed(&self.0.secret_subkeys[0].key, payload, SIGNED)])
    }
}

fn signed(key: &impl SigningKey, payload: &[u8], at: u32) -> DetachedSignature {
    let regular = |data| Subpacket::regular(data).expect("a subpacket");
    let hashed = vec![
        regular(SubpacketData::IssuerFingerprint(key.fingerprint())),
        regular(SubpacketData::SignatureCreationTime(Timestamp::from_secs(at))),
    ];
    let unhashed = vec![regular(SubpacketData::IssuerKeyId(key.legacy_key_id()))];
    let made = DetachedSignature::sign_binary_data_with_subpackets(
        OsRng,
        key,
        &Password::empty(),
        HashAlgorithm::Sha256,
        payload,
        SubpacketConfig::UserDefined { hashed, unhashed },
    );
    made.expect("a key signs")
}

fn armoured(signatures: &[DetachedSignature]) -> String {
    let mut bytes = Vec::new();
    for signature in signatures {
        signature.to_writer(&mut bytes).expect("a signature is written");
    }
    let text = BASE64_STANDARD.encode(bytes);
    format!("-----BEGIN PGP SIGNATURE-----\n\n{text}\n-----END PGP SIGNATURE-----\n")
}
