//! Signature algorithms that the certificate library lacks: ECDSA with a digest of another size than the curve, and P-521.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use rustls_pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};
use sha2::{Digest as _, Sha384, Sha512};
use webpki::ALL_VERIFICATION_ALGS;

macro_rules! pairs {
    ($($name:ident: $curve:ident::$kind:ident, $key:ident; $digest:ident, $signature:ident)*) => {
        $(
            #[derive(Debug)]
            pub(super) struct $name;

            impl SignatureVerificationAlgorithm for $name {
                fn verify_signature(
                    &self,
                    key: &[u8],
                    message: &[u8],
                    signature: &[u8],
                ) -> Result<(), InvalidSignature> {
                    let key = $curve::$kind::VerifyingKey::from_sec1_bytes(key);
                    let signature = $curve::$kind::Signature::from_der(signature);
                    let (Ok(key), Ok(signature)) = (key, signature) else {
                        return Err(InvalidSignature);
                    };
                    key.verify_prehash(&$digest::digest(message), &signature)
                        .or(Err(InvalidSignature))
                }

                fn public_key_alg_id(&self) -> AlgorithmIdentifier {
                    alg_id::$key
                }

                fn signature_alg_id(&self) -> AlgorithmIdentifier {
                    alg_id::$signature
                }
            }
        )*

        const PAIRS: &[&dyn SignatureVerificationAlgorithm] = &[$(&$name),*];
    };
}

pairs! {
    P256WithSha512: p256::ecdsa, ECDSA_P256; Sha512, ECDSA_SHA512
    P384WithSha512: p384::ecdsa, ECDSA_P384; Sha512, ECDSA_SHA512
    P521WithSha384: p521::ecdsa, ECDSA_P521; Sha384, ECDSA_SHA384
    P521WithSha512: p521::ecdsa, ECDSA_P521; Sha512, ECDSA_SHA512
}

/// Every algorithm that a certificate may be signed with.
pub(super) fn all() -> Vec<&'static dyn SignatureVerificationAlgorithm> {
    [ALL_VERIFICATION_ALGS, PAIRS].concat()
}
