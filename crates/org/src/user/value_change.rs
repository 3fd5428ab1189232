//! Changed values of an account, for the audit log.

use super::Details;

/// A value of an account that changed, with both values unless they are secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    pub name: &'static str,
    pub from: Option<String>,
    pub to: Option<String>,
}

impl ValueChange {
    /// A value that is told to nobody.
    pub(super) fn secret(name: &'static str) -> Self {
        Self { name, from: None, to: None }
    }
}

/// The values that decide who somebody is and what they may do, where they changed; of a password only that there is
/// another, of an identity only where it is from.
pub(super) fn value_changes(
    before: &Details,
    after: &Details,
    has_password: bool,
    provider: Option<&str>,
) -> Vec<ValueChange> {
    let pairs = [
        ("name", before.name.clone(), after.name.clone()),
        ("email", before.email.clone(), after.email.clone()),
        ("admin", before.admin.to_string(), after.admin.to_string()),
        ("auditor", before.auditor.to_string(), after.auditor.to_string()),
        ("external", before.external.to_string(), after.external.to_string()),
        ("projects_limit", before.projects_limit.to_string(), after.projects_limit.to_string()),
        (
            "can_create_group",
            before.can_create_group.to_string(),
            after.can_create_group.to_string(),
        ),
    ];
    let changed = pairs.into_iter().filter(|(_, from, to)| from != to);
    let mut told: Vec<ValueChange> = changed
        .map(|(name, from, to)| ValueChange { name, from: Some(from), to: Some(to) })
        .collect();
    if has_password {
        told.push(ValueChange::secret("password"));
    }
    if let Some(provider) = provider {
        let to = Some(provider.to_owned());
        told.push(ValueChange { name: "identity", from: None, to });
    }
    told
}
