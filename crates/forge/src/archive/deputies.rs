//! Whoever imports as the deputy of people without an account here: a rule that named nobody else would let everybody
//! through what it keeps.

use std::collections::HashSet;

use db::{
    Tx,
    archive::{self, ArchiveRow, Names, Relation},
};
use kernel::Result;
use serde_json::Value;

/// People whom rows name in rules, and where one deputy is enough for them.
struct Deputy {
    relation: &'static str,
    /// The column that says what a row is a rule of, and the relation of that.
    rule: (&'static str, &'static str),
    /// The kind of rows that let everybody through where there are none.
    kind: Option<&'static str>,
    /// Whether each row is a rule of its own: only whoever imports does for another person then.
    is_alone: bool,
}

static DEPUTIES: [Deputy; 3] = [
    Deputy {
        relation: "approval_rule_users",
        rule: ("rule_id", "approval_rules"),
        kind: None,
        is_alone: false,
    },
    Deputy {
        relation: "protected_branch_access",
        rule: ("protected_branch_id", "protected_branches"),
        kind: Some("unprotect"),
        is_alone: false,
    },
    Deputy {
        relation: "protected_environment_access",
        rule: ("protected_environment_id", "protected_environments"),
        kind: Some("approve"),
        is_alone: true,
    },
];

impl Deputy {
    /// What a row is a rule of, by its id in the archive.
    fn rule_of(&self, row: &ArchiveRow) -> Option<i64> {
        let kind = row.get("kind").and_then(Value::as_str);
        let rule = row.get(self.rule.0).and_then(Value::as_i64);
        rule.filter(|_| self.kind.is_none_or(|own| kind == Some(own)))
    }

    /// Whether no deputy is needed beside a row of somebody who is known, or of a role.
    fn suffices(&self, user: Option<i64>, importer: i64) -> bool {
        !self.is_alone || user == Some(importer)
    }

    /// The same for rows that are written, in SQL.
    fn sufficient_rows(&self, importer: i64) -> String {
        let kind = self.kind.map(|kind| format!("kind = '{kind}'"));
        let user = self.is_alone.then(|| format!("user_id = {importer}"));
        let both: Vec<String> = kind.into_iter().chain(user).collect();
        if both.is_empty() { "TRUE".to_owned() } else { both.join(" AND ") }
    }
}

/// Places of rows in a page that would name whoever imports for somebody without an account, where others are known or
/// whoever imports is named already.
pub(super) fn needless(
    tx: &mut Tx<'_>,
    relation: &Relation,
    names: &Names,
    rows: &[ArchiveRow],
) -> Result<HashSet<usize>> {
    let Some(deputy) = DEPUTIES.iter().find(|one| one.relation == relation.name) else {
        return Ok(HashSet::new());
    };
    let (mut strangers, mut settled) = (Vec::new(), HashSet::new());
    for (place, row) in rows.iter().enumerate() {
        let Some(rule) = deputy.rule_of(row) else { continue };
        let person = row.get("user_id").and_then(Value::as_i64);
        let user = person.and_then(|id| names.people.get(&id)).copied();
        if person.is_some() && user.is_none() {
            strangers.push((place, rule));
        } else if deputy.suffices(user, names.importer) {
            settled.insert(rule);
        }
    }
    let (column, of) = deputy.rule;
    let here = |rule: &i64| names.rows.get(&(of, *rule)).copied();
    let ids: Vec<i64> = strangers.iter().filter_map(|(_, rule)| here(rule)).collect();
    let condition = deputy.sufficient_rows(names.importer);
    let written = archive::parents(tx, relation, column, &ids, &condition)?;
    let is_written = |rule: &i64| here(rule).is_some_and(|id| written.contains(&id));
    strangers.retain(|(_, rule)| is_written(rule) || !settled.insert(*rule));
    Ok(strangers.into_iter().map(|(place, _)| place).collect())
}
