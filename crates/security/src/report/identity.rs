//! The UUID of a vulnerability, which is the same in every report that contains it.

use kernel::ids::ProjectId;
use sha1::{Digest as _, Sha1};

use crate::vulnerability::ReportType;

/// Namespace of these version 5 UUIDs.
const NAMESPACE: u128 = 0x58dc_0f06_936c_43b3_93bb_7169_3f1b_6570;

/// A UUID of version 5.
pub(super) fn uuid(kind: ReportType, identifier: &str, place: &str, project: ProjectId) -> String {
    let name = format!("{kind}-{identifier}-{place}-{project}");
    let digest = Sha1::new().chain_update(NAMESPACE.to_be_bytes()).chain_update(name).finalize();
    let mut bytes: [u8; 16] = digest.first_chunk().copied().unwrap_or_default();
    bytes[6] = (bytes[6] & 0x0f) | 0x50;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use kernel::ids::ProjectId;

    use super::uuid;
    use crate::vulnerability::ReportType::{Dast, Sast};

    #[test]
    fn every_part_makes_another_identity() {
        let one = uuid(Sast, "a", "b", ProjectId(1));
        assert_eq!(one, uuid(Sast, "a", "b", ProjectId(1)));
        assert_eq!((one.len(), &one[14..15]), (36, "5"));
        assert!(["8", "9", "a", "b"].contains(&&one[19..20]), "{one}");
        for other in [
            uuid(Dast, "a", "b", ProjectId(1)),
            uuid(Sast, "x", "b", ProjectId(1)),
            uuid(Sast, "a", "x", ProjectId(1)),
            uuid(Sast, "a", "b", ProjectId(2)),
        ] {
            assert_ne!(one, other);
        }
    }
}
