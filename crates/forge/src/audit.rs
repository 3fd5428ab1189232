//! Audit events of what happens in the domains, written in the transaction of what they tell.

mod entry;

use std::any::Any;

use admin::audit::{AuditStore as _, Entity, NewAuditEvent};
use db::Tx;
use kernel::{
    Result,
    audit::{AuditBatch, AuditPlace, AuditRecord},
    event::Event,
    ids::UserId,
};
use org::{
    application::{ApplicationAction, ApplicationChange},
    member::{self, rules::role},
    namespace,
    namespace::{event::TreeRemoval, store::NamespaceStore as _},
    project,
    project::store::ProjectStore as _,
    settings::SettingsUpdate,
    user,
    user::{
        Step,
        event::{AccountAction, AccountChange},
        store::UserStore as _,
    },
};
use review::approval::{RuleEvent, RuleFact};
use serde_json::{Map, Value, json};

use self::entry::{Author, Entry, Target, UNKNOWN};

/// What is told of a setting is no longer than this.
const LONGEST_VALUE: usize = 1000;

/// Heard before the commit.
pub(crate) fn on_event(tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    if let Some(fact) = fact.downcast_ref() {
        return of_user(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_account(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_member(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_group(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_tree(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_settings(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_application(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_record(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref::<AuditBatch>() {
        return of_records(tx, fact.place, &fact.records);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_approval_rule(tx, fact);
    }
    match fact.downcast_ref() {
        Some(fact) => of_project(tx, fact),
        None => Ok(()),
    }
}

fn of_project(tx: &mut Tx<'_>, fact: &project::event::Event) -> Result<()> {
    use project::event::Event as Fact;
    let message = |text: &str| json!({ "custom_message": text });
    match fact {
        Fact::ProjectCreated { project, creator, .. } => {
            let entry = Entry::new("project_created", json!({ "add": "project" }));
            entry.of_project(tx, *project, Some(*creator))
        }
        Fact::ProjectMoved { project, old_path, transferred: true } => {
            let to = tx.find_project(*project)?.map(|project| project.full_path);
            let change = json!({ "change": "namespace", "from": old_path, "to": to });
            Entry::new("project_transferred", change).of_project(tx, *project, None)
        }
        Fact::ProjectDeletionMarked { project, user } => {
            let entry =
                Entry::new("project_deletion_marked", message("Project marked for deletion"));
            entry.of_project(tx, *project, *user)
        }
        Fact::ProjectRestored { project, user } => {
            let entry = Entry::new("project_restored", message("Project restored"));
            entry.of_project(tx, *project, *user)
        }
        Fact::ProjectDestroyed { project, record } => {
            let entry = Entry::new("project_destroyed", json!({ "remove": "project" }));
            let called = (record.name.as_str(), record.full_path.as_str());
            entry.write(tx, Entity::Project(*project), called, None)
        }
        Fact::ProjectMoved { .. }
        | Fact::ApprovalsRequired { .. }
        | Fact::NetworkLeft { .. }
        | Fact::ProjectUpdated { .. } => Ok(()),
    }
}

/// Rules of projects, and of single merge requests. Changed settings are told one by one.
fn of_approval_rule(tx: &mut Tx<'_>, fact: &RuleEvent) -> Result<()> {
    let (name, verb, rule) = match fact {
        RuleEvent::RuleCreated(rule) => ("approval_rule_created", "add", rule),
        RuleEvent::RuleUpdated(rule) => ("update_approval_rules", "change", rule),
        RuleEvent::RuleRemoved(rule) => ("approval_rule_deleted", "remove", rule),
        RuleEvent::Configured { .. } => return Ok(()),
    };
    let mut details = rule_details(rule);
    details.insert(verb.to_owned(), "approval_rule".into());
    let target = Target { kind: "ApprovalRule", id: rule.rule.0, name: rule.name.clone() };
    let entry = Entry::new(name, Value::Object(details)).about(target);
    entry.of_project(tx, rule.project, Some(rule.user))
}

/// What a rule asks for, and of whom.
fn rule_details(rule: &RuleFact) -> Map<String, Value> {
    let users: Vec<i64> = rule.users.iter().map(|user| user.0).collect();
    let groups: Vec<i64> = rule.groups.iter().map(|group| group.0).collect();
    let mut details = Map::new();
    details.insert("approvals_required".to_owned(), rule.approvals_required.into());
    details.insert("user_ids".to_owned(), users.into());
    details.insert("group_ids".to_owned(), groups.into());
    if let Some(request) = rule.merge_request {
        details.insert("merge_request_id".to_owned(), request.0.into());
    }
    details
}

/// What a domain tells in so many words.
fn of_record(tx: &mut Tx<'_>, fact: &AuditRecord) -> Result<()> {
    of_records(tx, fact.place, std::slice::from_ref(fact))
}

/// As [`of_record`], for several of one place, in as many statements as for one.
fn of_records(tx: &mut Tx<'_>, place: AuditPlace, facts: &[AuditRecord]) -> Result<()> {
    // What is gone by now is no longer somebody's to answer for, and must not stop what happens to it.
    let Some((entity, name, path)) = audited(tx, place)? else { return Ok(()) };
    let (author, address) = (Author::find(tx, None)?, tx.origin.address);
    let event = |fact| record_entry(fact).event(address, entity, (&name, &path), &author);
    let events: Vec<NewAuditEvent> = facts.iter().map(event).collect();
    tx.insert_audit_events(&events)
}

/// What an event is about, its name and its path.
fn audited(tx: &mut Tx<'_>, place: AuditPlace) -> Result<Option<(Entity, String, String)>> {
    Ok(match place {
        AuditPlace::Instance => {
            Some((Entity::Instance, "Instance".to_owned(), "gitlab_instance".to_owned()))
        }
        AuditPlace::Project(id) => {
            tx.find_project(id)?.map(|found| (Entity::Project(id), found.name, found.full_path))
        }
        AuditPlace::Group(id) => {
            tx.find_namespace(id)?.map(|found| (Entity::Group(id), found.name, found.full_path))
        }
        AuditPlace::User(id) => {
            tx.find_user(id)?.map(|found| (Entity::User(id), found.name, found.username))
        }
    })
}

fn record_entry(fact: &AuditRecord) -> Entry {
    let details =
        fact.details.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into()));
    let target =
        Target { kind: fact.target_type, id: fact.target_id, name: fact.target_name.clone() };
    Entry::new(fact.name, Value::Object(details.collect())).about(target)
}

fn of_user(tx: &mut Tx<'_>, fact: &user::event::Event) -> Result<()> {
    use user::event::Event as Fact;
    match fact {
        Fact::UserCreate { person, .. } => {
            let author = tx.find_user(person.user_id)?.and_then(|user| user.created_by);
            Entry::new("user_created", json!({ "add": "user" })).of_person(tx, person, author)
        }
        Fact::UserDestroy { person, by, .. } => {
            let author = Author::of_removal(tx, by.as_ref())?;
            let entry = Entry::new("user_destroyed", json!({ "remove": "user" }));
            entry.of_person_by(tx, person, &author)
        }
        Fact::UserFailedLogin { person, .. } => {
            login_failure().of_person(tx, person, Some(person.user_id))
        }
        // The action behind it says who did it.
        Fact::UserRename { .. } | Fact::UserApprove { .. } => Ok(()),
    }
}

fn login_failure() -> Entry {
    Entry::new("login_failed", json!({ "failed_login": "STANDARD", "with": "standard" }))
}

/// What somebody did to an account: one event, or one for each value.
fn of_account(tx: &mut Tx<'_>, fact: &AccountAction) -> Result<()> {
    let message = |text: &str| json!({ "custom_message": text });
    let author = match fact.by {
        Some(_) => Author::find(tx, fact.by)?,
        None => Author::system(),
    };
    let (name, details) = match &fact.change {
        AccountChange::Rename { old_username } => {
            let to = &fact.person.username;
            let change = json!({ "change": "username", "from": old_username, "to": to });
            ("user_username_updated", change)
        }
        AccountChange::RemovalRequest => {
            ("user_removal_requested", message("Asked for the removal of the account"))
        }
        AccountChange::TwoFactorRemoval => {
            ("user_disable_two_factor", message("Two-factor authentication disabled"))
        }
        AccountChange::WrongPassword => {
            return login_failure().of_person_by(tx, &fact.person, &Author::anonymous());
        }
        AccountChange::Step(step) => {
            let (name, text) = of_step(*step);
            (name, message(text))
        }
        AccountChange::Values(changes) => {
            for change in changes {
                let details =
                    json!({ "change": change.name, "from": change.from, "to": change.to });
                let entry = Entry::new("user_updated", details);
                entry.of_person_by(tx, &fact.person, &author)?;
            }
            return Ok(());
        }
    };
    Entry::new(name, details).of_person_by(tx, &fact.person, &author)
}

fn of_step(step: Step) -> (&'static str, &'static str) {
    match step {
        Step::Block => ("user_blocked", "Blocked user"),
        Step::Unblock => ("user_unblocked", "Unblocked user"),
        Step::Deactivate => ("user_deactivated", "Deactivated user"),
        Step::Activate => ("user_activated", "Activated user"),
        Step::Ban => ("user_banned", "Banned user"),
        Step::Unban => ("user_unbanned", "Unbanned user"),
        Step::Approve => ("user_approved", "Instance access approved"),
        Step::Reject => ("user_rejected", "Instance access rejected"),
    }
}

fn of_member(tx: &mut Tx<'_>, fact: &member::Event) -> Result<()> {
    let (name, details, fact) = match fact {
        member::Event::Added(fact) => {
            ("member_created", json!({ "add": "user_access", "as": role(fact.access_level) }), fact)
        }
        member::Event::Changed(fact) => {
            let (from, expiry_from) = fact.before.unzip();
            let change = json!({ "change": "access_level", "from": from.map(role),
                "to": role(fact.access_level), "expiry_from": expiry_from.flatten(),
                "expiry_to": fact.expires_at });
            ("member_updated", change, fact)
        }
        member::Event::Removed { fact, .. } => {
            ("member_destroyed", json!({ "remove": "user_access" }), fact)
        }
        member::Event::Requested(_) | member::Event::RequestDenied(_) => return Ok(()),
    };
    let who = tx.find_user(fact.user)?.map_or_else(|| UNKNOWN.to_owned(), |user| user.name);
    let target = Target { kind: "User", id: fact.user.0, name: who };
    let entry = Entry::new(name, details).about(target);
    match (fact.project, fact.group) {
        (Some(project), _) => entry.of_project(tx, project, fact.by),
        (None, Some(group)) => {
            let Some(group) = tx.find_namespace(group)? else { return Ok(()) };
            entry.of_group(tx, &(&group).into(), fact.by)
        }
        (None, None) => Ok(()),
    }
}

fn of_group(tx: &mut Tx<'_>, fact: &namespace::event::Event) -> Result<()> {
    use namespace::event::Event as Fact;
    let (group, name, details, author) = match fact {
        Fact::GroupCreate { group, user } => {
            (group, "group_created", json!({ "add": "group" }), user)
        }
        // Records of the changed values say what it was, and the removal of a tree names all of its groups.
        Fact::GroupUpdate { .. } | Fact::GroupDestroy { .. } => return Ok(()),
        Fact::GroupRename { group, old_full_path, user, .. } => {
            let change = json!({ "change": "path", "from": old_full_path, "to": group.full_path });
            (group, "group_path_updated", change, user)
        }
        Fact::GroupTransfer { group, old_full_path, user } => {
            let change =
                json!({ "change": "namespace", "from": old_full_path, "to": group.full_path });
            (group, "group_transferred", change, user)
        }
        Fact::GroupMarkedForDeletion { group, user } => {
            let told = json!({ "custom_message": "Group marked for deletion" });
            (group, "group_deletion_marked", told, user)
        }
        Fact::GroupRestore { group, user } => {
            (group, "group_restored", json!({ "custom_message": "Group restored" }), user)
        }
        Fact::GroupShare { group_id, invited_id, user } => {
            return share(
                tx,
                (*group_id, *invited_id),
                ("group_share_with_group_link_created", "add"),
                *user,
            );
        }
        Fact::GroupUnshare { group_id, invited_id, user } => {
            return share(
                tx,
                (*group_id, *invited_id),
                ("group_share_with_group_link_removed", "remove"),
                *user,
            );
        }
    };
    Entry::new(name, details).of_group(tx, group, *author)
}

/// One event for each group and project that went with a namespace, and for the namespace itself where it is a group.
fn of_tree(tx: &mut Tx<'_>, fact: &TreeRemoval) -> Result<()> {
    let author = Author::of_removal(tx, fact.user.as_ref())?;
    let address = tx.origin.address;
    let projects = fact.projects.iter().map(|project| {
        let entry = Entry::new("project_destroyed", json!({ "remove": "project" }));
        let called = (project.name.as_str(), project.full_path.as_str());
        entry.event(address, Entity::Project(project.id), called, &author)
    });
    let groups = fact.groups.iter().map(|group| {
        let entry = Entry::new("group_destroyed", json!({ "remove": "group" }));
        let called = (group.name.as_str(), group.full_path.as_str());
        entry.event(address, Entity::Group(group.group_id), called, &author)
    });
    let events: Vec<NewAuditEvent> = projects.chain(groups).collect();
    tx.insert_audit_events(&events)
}

fn share(
    tx: &mut Tx<'_>,
    (group, invited): (kernel::ids::NamespaceId, kernel::ids::NamespaceId),
    (name, verb): (&'static str, &str),
    author: Option<UserId>,
) -> Result<()> {
    let Some(group) = tx.find_namespace(group)? else { return Ok(()) };
    let invited_name =
        tx.find_namespace(invited)?.map_or_else(String::new, |other| other.full_path);
    let target = Target { kind: "Group", id: invited.0, name: invited_name };
    let mut details = Map::new();
    details.insert(verb.to_owned(), "group_access".into());
    Entry::new(name, Value::Object(details)).about(target).of_group(tx, &(&group).into(), author)
}

/// One event for each setting. The values of secrets are in none.
fn of_settings(tx: &mut Tx<'_>, fact: &SettingsUpdate) -> Result<()> {
    for change in &fact.changes {
        let details = json!({
            "change": change.name,
            "from": shortened(&change.from),
            "to": shortened(&change.to),
        });
        let entry = Entry::new("application_setting_updated", details);
        entry.write(tx, Entity::Instance, ("Instance", "gitlab_instance"), fact.by)?;
    }
    Ok(())
}

/// Applications belong to the installation; what they may do for somebody, to that person.
fn of_application(tx: &mut Tx<'_>, fact: &ApplicationAction) -> Result<()> {
    let target = Target {
        kind: "Doorkeeper::Application",
        id: fact.application_id.0,
        name: fact.name.clone(),
    };
    let (name, text) = match &fact.change {
        ApplicationChange::Creation => ("oauth_application_created", "OAuth application added"),
        ApplicationChange::Removal => ("oauth_application_deleted", "OAuth application removed"),
        ApplicationChange::Authorization(_) => {
            ("user_authorized_oauth_application", "User authorized an OAuth application")
        }
        ApplicationChange::Replay(_) => {
            ("oauth_grant_reused", "OAuth code or token shown again, all that came of it revoked")
        }
    };
    let entry = Entry::new(name, json!({ "custom_message": text })).about(target);
    match &fact.change {
        ApplicationChange::Creation | ApplicationChange::Removal => {
            entry.write(tx, Entity::Instance, ("Instance", "gitlab_instance"), fact.by)
        }
        ApplicationChange::Authorization(person) | ApplicationChange::Replay(person) => {
            entry.of_person(tx, person, fact.by)
        }
    }
}

fn shortened(value: &Value) -> Value {
    let text = match value {
        Value::Null => return Value::Null,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().take(LONGEST_VALUE).collect::<String>().into()
}
