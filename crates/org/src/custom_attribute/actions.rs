//! Reading and writing notes.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    access::Administrate,
    ids::{NamespaceId, ProjectId, UserId},
    values::length_fault,
};

use super::{CustomAttribute, Subject, store::CustomAttributeStore};
use crate::{
    access::IdOrPath,
    namespace::{Kind, store::NamespaceStore},
    project::store::ProjectStore,
    user::store::UserStore,
};

const LONGEST: usize = 255;

/// A kind of object with custom attributes, and how a path names one.
#[derive(Clone, Debug)]
pub enum AttributeOwner {
    Group(IdOrPath),
    Project(IdOrPath),
    User(UserId),
}

/// Finds what a path names; administrators see everything that is there.
pub fn find(
    tx: &mut Tx<'_>,
    _grant: &Grant<Administrate>,
    named: &AttributeOwner,
) -> Result<Subject> {
    let found = match named {
        AttributeOwner::Group(id) => {
            let found = match id {
                IdOrPath::Id(id) => tx.find_namespace(NamespaceId(*id))?,
                IdOrPath::Path(path) => tx.find_namespace_at(path)?,
            };
            let group = found.filter(|found| found.kind == Kind::Group);
            group.map(|group| Subject::Group(group.id))
        }
        AttributeOwner::Project(id) => {
            let found = match id {
                IdOrPath::Id(id) => tx.find_project(ProjectId(*id))?,
                IdOrPath::Path(path) => tx.find_project_at(path)?,
            };
            found.map(|project| Subject::Project(project.id))
        }
        AttributeOwner::User(id) => tx.find_user(*id)?.map(|user| Subject::User(user.id)),
    };
    found.ok_or_else(Error::hidden)
}

/// Writes a note down, in place of one with the same key.
pub fn set(
    tx: &mut Tx<'_>,
    _grant: &Grant<Administrate>,
    of: Subject,
    note: &CustomAttribute,
) -> Result<()> {
    let mut wrong = Vec::new();
    if let Some(text) = length_fault(&note.key, LONGEST) {
        wrong.push(("key".to_owned(), vec![text]));
    }
    if note.value.trim().is_empty() {
        wrong.push(("value".to_owned(), vec!["can't be blank".to_owned()]));
    }
    if !wrong.is_empty() {
        return Err(Error::bad_request().fields(wrong));
    }
    tx.save_custom_attribute(of, note)
}

pub fn remove(tx: &mut Tx<'_>, _grant: &Grant<Administrate>, of: Subject, key: &str) -> Result<()> {
    if tx.delete_custom_attribute(of, key)? { Ok(()) } else { Err(Error::missing()) }
}
