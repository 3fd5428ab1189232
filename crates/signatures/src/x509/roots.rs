//! Trusted certificate authorities and their revocation lists.

use std::{fmt, sync::Arc};

use rustls_pki_types::{
    CertificateDer, CertificateRevocationListDer, TrustAnchor, pem::PemObject as _,
};
use webpki::{CertRevocationList, OwnedCertRevocationList, anchor_from_trusted_cert};

/// Header of a revocation list in a PEM file.
const LIST_HEADER: &[u8] = b"-----BEGIN X509 CRL";

/// Trusted certificate authorities with their revocation lists.
#[derive(Clone, Default)]
pub struct TrustedRoots {
    pub(super) anchors: Arc<[TrustAnchor<'static>]>,
    pub(super) revocation_lists: Arc<[CertRevocationList<'static>]>,
}

impl TrustedRoots {
    /// The certificates and revocation lists of a PEM file; anything else is ignored.
    pub fn from_pem(text: &[u8]) -> Self {
        let certificates = CertificateDer::pem_slice_iter(text).filter_map(Result::ok);
        let lists = CertificateRevocationListDer::pem_slice_iter(text).filter_map(Result::ok);
        Self {
            anchors: certificates
                .filter_map(|one| Some(anchor_from_trusted_cert(&one).ok()?.to_owned()))
                .collect(),
            revocation_lists: lists
                .filter_map(|one| Some(OwnedCertRevocationList::from_der(&one).ok()?.into()))
                .collect(),
        }
    }

    /// How many revocation lists of the text given to [`from_pem`](Self::from_pem) are malformed and have no effect.
    pub fn malformed_lists(&self, text: &[u8]) -> usize {
        let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
        let headers = lines.filter(|line| line.starts_with(LIST_HEADER)).count();
        headers.saturating_sub(self.revocation_lists.len())
    }

    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }
}

impl fmt::Debug for TrustedRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustedRoots({}, {})", self.anchors.len(), self.revocation_lists.len())
    }
}

#[cfg(test)]
mod tests {
    use super::TrustedRoots;

    #[test]
    fn malformed_lists_are_counted() {
        let malformed =
            |text: &str| TrustedRoots::from_pem(text.as_bytes()).malformed_lists(text.as_bytes());
        let broken =
            |body: &str| format!("-----BEGIN X509 CRL-----\n{body}\n-----END X509 CRL-----\n");
        assert_eq!(malformed("# No list.\n"), 0);
        assert_eq!(malformed(&broken("AAAA")), 1);
        assert_eq!(malformed(&format!("# Two.\r\n{}{}", broken("AAAA"), broken("!"))), 2);
        assert_eq!(malformed("-----BEGIN X509 CRL-----\nAAAA\n"), 1, "it does not end");
    }
}
