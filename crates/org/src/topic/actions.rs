//! Making, changing and removing topics.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
};

use super::{Topic, TopicRecordStore as _};

const LONGEST_NAME: usize = 255;
const LONGEST_DESCRIPTION: usize = 1024;

/// Fields of a topic to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct TopicChange {
    pub name: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub avatar: Option<Option<String>>,
}

pub fn create(tx: &mut Tx<'_>, _: &Grant<Administrate>, change: TopicChange) -> Result<Topic> {
    let none = Topic { id: 0, name: String::new(), title: None, description: None, avatar: None };
    let new = change.applied(none);
    check(tx, &new)?;
    let made = tx.insert_topic(&new)?;
    record(tx, &made, AuditRecord::addition("topic_created", AuditPlace::Instance, "topic"));
    Ok(made)
}

pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    id: i64,
    change: TopicChange,
) -> Result<Topic> {
    let old = find(tx, id)?;
    // A new picture may have the name of the old one.
    let has_new_avatar = matches!(change.avatar, Some(Some(_)));
    let new = change.applied(old.clone());
    check(tx, &new)?;
    tx.save_topic(&new)?;
    for ((what, from), (_, to)) in audited_values(&old).into_iter().zip(audited_values(&new)) {
        if from != to || (what == "avatar" && has_new_avatar) {
            let change = AuditRecord::change("topic_updated", AuditPlace::Instance, what);
            record(tx, &new, change.values(from, to));
        }
    }
    Ok(new)
}

pub fn remove(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: i64) -> Result<()> {
    let old = find(tx, id)?;
    tx.delete_topic(id)?;
    record(tx, &old, AuditRecord::removal("topic_deleted", AuditPlace::Instance, "topic"));
    Ok(())
}

fn record(tx: &mut Tx<'_>, topic: &Topic, action: AuditRecord) {
    tx.mention(action.target("Projects::Topic", topic.id, &topic.name));
}

/// The values of a topic by their names.
fn audited_values(topic: &Topic) -> [(&'static str, String); 4] {
    [
        ("name", topic.name.clone()),
        ("title", topic.title.clone().unwrap_or_default()),
        ("description", topic.description.clone().unwrap_or_default()),
        ("avatar", topic.avatar.clone().unwrap_or_default()),
    ]
}

/// # Errors
/// `NotFound` where there is none.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Topic> {
    tx.topic(id)?.ok_or_else(Error::missing)
}

impl TopicChange {
    fn applied(self, old: Topic) -> Topic {
        Topic {
            name: self.name.map_or(old.name, |name| name.trim().to_owned()),
            title: self.title.or(old.title),
            description: self.description.or(old.description),
            avatar: self.avatar.unwrap_or(old.avatar),
            ..old
        }
    }
}

fn check(tx: &mut Tx<'_>, topic: &Topic) -> Result<()> {
    let mut faults = Faults::default();
    for (name, text) in [("name", &topic.name[..]), ("title", topic.shown_title())] {
        if text.trim().is_empty() {
            faults.add(name, "can't be blank");
        }
        faults.at_most(name, Some(text), LONGEST_NAME);
    }
    faults.at_most("description", topic.description.as_deref(), LONGEST_DESCRIPTION);
    if topic.name.contains('\n') {
        faults.add("name", "has characters that are not allowed");
    }
    if tx.topic_named(&topic.name)?.is_some_and(|other| other.id != topic.id) {
        faults.add("name", "has already been taken");
    }
    faults.into_result()
}
