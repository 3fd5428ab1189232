//! Keys that tests make for themselves, and what is signed with them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pgp::{
    composed::{
        ArmorOptions, KeyType, SecretKeyParamsBuilder, SignedPublicKey, SignedSecretKey,
        SubkeyParamsBuilder,
    },
    types::Timestamp,
};
use ssh_key::{HashAlg, PrivateKey, PublicKey, private::Ed25519Keypair, rand_core::OsRng};

/// A real key of 1024 bits.
pub(crate) const SHORT_RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC28beUllgSUzUN/WfHSAlZ6n+OkNgwUC+nqrF39dLmHwYieC8uczvXsJ9AEKMve27FM6MQREDwKHQfF5iKQBrIzNoPs1L+2mXoFoBfsr83Hl5PnbRJOcttk7uX2mrEEtu5iV+7KxjX8JLdefupSgQFt06iQclwmlCKKlhZsYdSgQ==";

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

/// When PGP keys of tests are made.
pub(crate) const KEY_MADE: u32 = 1_600_000_000;

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
}
