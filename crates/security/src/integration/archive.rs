//! Integrations in project archives: without their keys. In a copy they have new ones, and are switched off until somebody
//! has told the monitors.

use db::{
    Tx,
    archive::{ArchiveRow, Column, Relation, is_one_of},
};
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{AlertIntegrationId, ProjectId},
};
use secrets::Vault;
use serde_json::Value;

use super::{
    AlertIntegration, IntegrationKey, IntegrationKind, IntegrationStore as _, Mappings,
    actions::{MOST, ensure_fit},
};

pub static INTEGRATIONS: Relation = Relation {
    name: "alert_integrations",
    table: "alert_integrations",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::choice("kind", is_one_of::<IntegrationKind>),
        Column::choice("name", is_name),
        Column::choice("endpoint", is_endpoint),
        Column::choice("mappings", are_mappings),
        Column::choice("payload_example", is_example).optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

fn is_name(text: &str) -> bool {
    ensure_fit(text, &Mappings::new(), None).is_ok()
}

fn is_endpoint(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn are_mappings(text: &str) -> bool {
    let mappings = serde_json::from_str::<Mappings>(text);
    mappings.is_ok_and(|mappings| ensure_fit("name", &mappings, None).is_ok())
}

fn is_example(text: &str) -> bool {
    ensure_fit("name", &Mappings::new(), Some(text)).is_ok()
}

/// Gives a project the integrations of an archive, whose rows are those of [`INTEGRATIONS`], as far as it may have so many.
///
/// # Errors
/// `Conflict` where two have the same address, and when the database cannot be written.
pub fn insert_integrations(
    tx: &mut Tx<'_>,
    vault: &Vault,
    project: ProjectId,
    rows: &[ArchiveRow],
) -> Result<()> {
    for row in rows.iter().take(usize::try_from(MOST).unwrap_or_default()) {
        let new = integration(vault, project, row)?;
        tx.insert_alert_integration(&new)?;
    }
    Ok(())
}

fn integration(vault: &Vault, project: ProjectId, row: &ArchiveRow) -> Result<AlertIntegration> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let word = |name: &str| text(name).unwrap_or_default();
    let moment = |name: &str| Ts::parse(&word(name)).unwrap_or(Ts(0));
    let (key, endpoint) = (IntegrationKey::generate(), word("endpoint"));
    Ok(AlertIntegration {
        id: AlertIntegrationId(0),
        project_id: project,
        kind: IntegrationKind::find(&word("kind")).unwrap_or(IntegrationKind::Http),
        name: word("name"),
        active: false,
        token_digest: key.digest(),
        sealed: AlertIntegration::seal(vault, project, &endpoint, &key)?,
        endpoint,
        mappings: word("mappings"),
        created_at: moment("created_at"),
        updated_at: moment("updated_at"),
        payload_example: text("payload_example"),
    })
}

#[cfg(test)]
mod tests {
    use super::{are_mappings, is_endpoint, is_example, is_name};

    #[test]
    fn integrations_of_an_archive_keep_the_rules_of_new_ones() {
        let mapping = r#"{"title":{"path":["a"],"kind":"string","label":null}}"#;
        assert!(is_name("My Monitor") && is_endpoint("0123456789abcdef"));
        assert!(are_mappings("{}") && are_mappings(mapping) && is_example("{\"a\":1}"));
        assert!(!is_name(" ") && !is_name(&"x".repeat(256)));
        assert!(!is_endpoint("legacy") && !is_endpoint("0123456789abcde/"));
        assert!(!are_mappings("[]") && !are_mappings(r#"{"title":{"path":[]}}"#));
        assert!(!are_mappings(&mapping.replace("title", "odd")) && !is_example("[1"));
    }
}
