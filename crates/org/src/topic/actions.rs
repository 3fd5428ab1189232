//! Making, changing and removing topics.

use db::Tx;
use kernel::{Error, Faults, Grant, Result, access::Administrate};

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
    tx.insert_topic(&new)
}

pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    id: i64,
    change: TopicChange,
) -> Result<Topic> {
    let new = change.applied(find(tx, id)?);
    check(tx, &new)?;
    tx.save_topic(&new)?;
    Ok(new)
}

pub fn remove(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: i64) -> Result<()> {
    find(tx, id)?;
    tx.delete_topic(id)
}

/// # Errors
/// `NotFound` where there is none.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Topic> {
    tx.topic(id)?.ok_or(Error::missing())
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
