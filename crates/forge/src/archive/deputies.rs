//! Whoever imports as the deputy of people without an account here, and of groups: without them, rules would let more
//! through than they did.

use std::collections::HashSet;

use db::{
    Tx,
    archive::{self, ArchiveRow, Names, Relation},
};
use deployments::protection as environment_protection;
use kernel::{
    AccessLevel::{self, Developer, Guest, Maintainer, Owner, Reporter},
    Actor, Result,
    ids::{ProjectId, UserId},
};
use org::{
    access::{AccessScope, Event, level_in_project, standings::people_in_project},
    user::{State, store::UserStore as _},
};
use repo::protection;
use review::approval;
use serde_json::Value;

/// The roles from which a deputy is taken where whoever imports cannot be it, as an administrator in a group of others.
const RANKS: [AccessLevel; 5] = [Owner, Maintainer, Developer, Reporter, Guest];
/// People of one rank who are asked for.
const CANDIDATES: i64 = 200;

/// People whom rows name in rules, and where one deputy is enough for them.
struct Deputy {
    relation: &'static str,
    /// The column that says what a row is a rule of, and the relation of that.
    rule: (&'static str, &'static str),
    /// The kind of rows that let everybody through where there are none.
    kind: Option<&'static str>,
    /// Whether nobody else does for a person: only whoever imports.
    is_alone: bool,
}

static DEPUTIES: [Deputy; 3] = [
    Deputy {
        relation: "approval_rule_users",
        rule: ("rule_id", "approval_rules"),
        kind: None,
        // A rule asks nobody for the merge requests of the only person that it names.
        is_alone: true,
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

/// Lets a deputy stand for people without a role in the copy, where a rule would let more through without them; then rules
/// forget them, as they do when somebody leaves a project. Before an import ends, rules forget nobody, since members of the archive
/// come last. Where nobody has a role, nobody stands for anybody: then only administrators get there.
pub(super) fn settle(tx: &mut Tx<'_>, importer: UserId, project: ProjectId) -> Result<()> {
    if let Some(deputy) = deputy(tx, importer, project)? {
        approval::on_member_removed::appoint_deputy(tx, project, deputy, importer)?;
        protection::on_member_removed::appoint_deputy(tx, project, deputy, importer)?;
        environment_protection::on_access_lost::appoint_deputy(tx, project, deputy, importer)?;
    }
    tx.mention(Event::Roles(AccessScope::Project(project)));
    Ok(())
}

/// Whoever imports, where they are a person who may sign in and sees merge requests; or else the first such person of the
/// highest role in the project. A bot goes when its token is renewed, and rules forget it then.
fn deputy(tx: &mut Tx<'_>, importer: UserId, project: ProjectId) -> Result<Option<UserId>> {
    let actor = Actor { id: Some(importer), ..Actor::ANONYMOUS };
    let has_role = level_in_project(tx, actor, project)? >= Developer;
    if has_role && first_person(tx, &[importer])?.is_some() {
        return Ok(Some(importer));
    }
    for rank in RANKS {
        let people = people_in_project(tx, project, rank, CANDIDATES)?;
        if let Some(found) = first_person(tx, &people)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn first_person(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Option<UserId>> {
    let known = tx.users_by_id(users)?;
    let may_serve = |id: &UserId| {
        known.get(id).is_some_and(|user| user.is_person() && user.state == State::Active)
    };
    Ok(users.iter().copied().find(may_serve))
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

#[cfg(test)]
mod tests {
    use db::testing::{rows, transaction};
    use kernel::AccessLevel::{Developer, Maintainer, Owner};

    use super::deputy;

    #[test]
    fn whoever_has_the_highest_role_stands_in_for_an_importer_who_has_none() {
        transaction(|tx| {
            let [root, bob, ada, eve] = [
                rows::user(tx, "root")?,
                rows::user(tx, "bob")?,
                rows::user(tx, "ada")?,
                rows::user(tx, "eve")?,
            ];
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, root, "tea")?;
            assert_eq!(deputy(tx, root, project)?, None);
            for (user, level) in
                [(bob, Developer), (ada, Maintainer), (eve, Owner), (root, Developer)]
            {
                rows::role(tx, user, project, level)?;
                assert_eq!(deputy(tx, root, project)?, Some(user), "{level:?}");
            }
            Ok(())
        });
    }
}
