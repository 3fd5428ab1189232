//! A line of the audit log, before it is known who did what is in it and where.

use admin::audit::{AuditStore as _, Entity, NewAuditEvent};
use db::Tx;
use kernel::{
    Result,
    ids::{ProjectId, UserId},
};
use org::{
    namespace,
    project::store::ProjectStore as _,
    user::{event::Person, store::UserStore as _},
};
use serde_json::{Map, Value};

/// The name of who is gone, or never was.
pub(super) const UNKNOWN: &str = "(System)";

/// An audit event without author and address.
pub(super) struct Entry {
    name: &'static str,
    details: Value,
    target: Option<Target>,
}

/// The target of an audit event, when it is not the entity.
pub(super) struct Target {
    pub(super) kind: &'static str,
    pub(super) id: i64,
    pub(super) name: String,
}

impl Entry {
    pub(super) fn new(name: &'static str, details: Value) -> Self {
        Self { name, details, target: None }
    }

    pub(super) fn about(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    pub(super) fn of_project(
        self,
        tx: &mut Tx<'_>,
        id: ProjectId,
        author: Option<UserId>,
    ) -> Result<()> {
        // What is gone by now is no longer somebody's to answer for, and must not stop what happens to it.
        let Some(project) = tx.find_project(id)? else { return Ok(()) };
        self.write(tx, Entity::Project(id), (&project.name, &project.full_path), author)
    }

    pub(super) fn of_group(
        self,
        tx: &mut Tx<'_>,
        group: &namespace::event::NamespacePath,
        author: Option<UserId>,
    ) -> Result<()> {
        self.write(tx, Entity::Group(group.group_id), (&group.name, &group.full_path), author)
    }

    pub(super) fn of_person(
        self,
        tx: &mut Tx<'_>,
        person: &Person,
        author: Option<UserId>,
    ) -> Result<()> {
        self.write(tx, Entity::User(person.user_id), (&person.name, &person.username), author)
    }

    pub(super) fn write(
        self,
        tx: &mut Tx<'_>,
        entity: Entity,
        (name, path): (&str, &str),
        author: Option<UserId>,
    ) -> Result<()> {
        let origin = tx.origin;
        let author = author.or(origin.user);
        let found = author.map(|id| tx.find_user(id)).transpose()?.flatten();
        let (author_name, email) =
            found.map_or((UNKNOWN.to_owned(), Value::Null), |user| (user.name, user.email.into()));
        let target = self.target.unwrap_or_else(|| Target {
            kind: entity.type_name(),
            id: entity.id(),
            name: name.to_owned(),
        });
        let mut details = match self.details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        if let Some(address) = origin.address {
            details.insert("ip_address".to_owned(), address.to_string().into());
        }
        details.insert("author_name".to_owned(), author_name.clone().into());
        details.insert("author_email".to_owned(), email);
        details.insert("target_id".to_owned(), target.id.into());
        details.insert("target_type".to_owned(), target.kind.into());
        details.insert("target_details".to_owned(), target.name.into());
        details.insert("entity_path".to_owned(), path.into());
        tx.insert_audit_event(&NewAuditEvent {
            author_id: author,
            author_name,
            entity,
            entity_path: path.to_owned(),
            event_name: self.name,
            details,
        })
    }
}
