//! A line of the audit log, before it is known who did what is in it and where.

use std::net::IpAddr;

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

/// The name of who has not proved to be anybody.
const ANONYMOUS: &str = "An unauthenticated user";

/// The author of audit events.
pub(super) struct Author {
    id: Option<UserId>,
    name: String,
    email: Option<String>,
}

impl Author {
    /// The account with this ID, or else the one that asked for the transaction.
    pub(super) fn find(tx: &mut Tx<'_>, id: Option<UserId>) -> Result<Self> {
        let id = id.or(tx.origin.user);
        let found = id.map(|id| tx.find_user(id)).transpose()?.flatten();
        let (name, email) =
            found.map_or((UNKNOWN.to_owned(), None), |user| (user.name, Some(user.email)));
        Ok(Self { id, name, email })
    }

    /// A person whose account may be gone, or else the one who asked for the transaction.
    pub(super) fn of_removal(tx: &mut Tx<'_>, person: Option<&Person>) -> Result<Self> {
        let Some(person) = person else { return Self::find(tx, None) };
        let (name, email) = (person.name.clone(), Some(person.email.clone()));
        Ok(Self { id: Some(person.user_id), name, email })
    }

    /// The server, for what it does by itself, whoever asked for the transaction.
    pub(super) fn system() -> Self {
        Self { id: None, name: UNKNOWN.to_owned(), email: None }
    }

    /// Somebody who has not proved who they are.
    pub(super) fn anonymous() -> Self {
        Self { id: None, name: ANONYMOUS.to_owned(), email: None }
    }
}

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
        let author = Author::find(tx, author)?;
        self.of_person_by(tx, person, &author)
    }

    pub(super) fn of_person_by(
        self,
        tx: &mut Tx<'_>,
        person: &Person,
        author: &Author,
    ) -> Result<()> {
        let entity = Entity::User(person.user_id);
        let event = self.event(tx.origin.address, entity, (&person.name, &person.username), author);
        tx.insert_audit_event(&event)
    }

    pub(super) fn write(
        self,
        tx: &mut Tx<'_>,
        entity: Entity,
        called: (&str, &str),
        author: Option<UserId>,
    ) -> Result<()> {
        let author = Author::find(tx, author)?;
        let event = self.event(tx.origin.address, entity, called, &author);
        tx.insert_audit_event(&event)
    }

    /// The event as it is stored. `address` is where the request came from.
    pub(super) fn event(
        self,
        address: Option<IpAddr>,
        entity: Entity,
        (name, path): (&str, &str),
        author: &Author,
    ) -> NewAuditEvent {
        let target = self.target.unwrap_or_else(|| Target {
            kind: entity.type_name(),
            id: entity.id(),
            name: name.to_owned(),
        });
        let mut details = match self.details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        if let Some(address) = address {
            details.insert("ip_address".to_owned(), address.to_string().into());
        }
        details.insert("author_name".to_owned(), author.name.clone().into());
        details.insert("author_email".to_owned(), author.email.clone().into());
        details.insert("target_id".to_owned(), target.id.into());
        details.insert("target_type".to_owned(), target.kind.into());
        details.insert("target_details".to_owned(), target.name.into());
        details.insert("entity_path".to_owned(), path.into());
        NewAuditEvent {
            author_id: author.id,
            author_name: author.name.clone(),
            entity,
            entity_path: path.to_owned(),
            event_name: self.name,
            details,
        }
    }
}
