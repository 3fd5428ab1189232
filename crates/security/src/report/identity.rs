//! The UUID of a vulnerability, which is the same in every report that contains it.

use kernel::ids::ProjectId;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};

use super::fingerprint::{of_identifier, of_place};
use crate::vulnerability::{Identifier, ReportType};

/// Namespace of these version 5 UUIDs.
const NAMESPACE: u128 = 0x58dc_0f06_936c_43b3_93bb_7169_3f1b_6570;

/// The UUID of a finding with these fingerprints.
pub(super) fn uuid(kind: ReportType, identifier: &str, place: &str, project: ProjectId) -> String {
    version_5(&format!("{kind}-{identifier}-{place}-{project}"))
}

/// The UUID of a finding of whose place its scanner says nothing else; `None` where the place is not told.
pub(crate) fn uuid_of_finding(
    kind: ReportType,
    first: &Identifier,
    location: &Value,
    project: ProjectId,
) -> Option<String> {
    let place = of_place(kind, &json!({ "location": location }))?;
    Some(uuid(kind, &of_identifier(first), &place, project))
}

/// The UUID that a vulnerability of one project has in a copy of it: the one that reports of the copy give the finding,
/// as far as its place tells that, else another one that no other project has.
pub(crate) fn uuid_in_copy(
    known: &str,
    (kind, first, location): (Option<ReportType>, Option<&Identifier>, &Value),
    (source, copy): (ProjectId, ProjectId),
) -> String {
    let of_project = |project| uuid_of_finding(kind?, first?, location, project);
    match of_project(source) {
        Some(told) if told == known => of_project(copy).unwrap_or(told),
        _ => provisional_uuid(known, copy),
    }
}

/// The UUID that a vulnerability has in a copy of its project while nothing tells which one reports of the copy give it:
/// its scanner may keep track of it by more than its place.
pub fn provisional_uuid(known: &str, copy: ProjectId) -> String {
    version_5(&format!("{known}-{copy}"))
}

/// A UUID of version 5.
fn version_5(name: &str) -> String {
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
