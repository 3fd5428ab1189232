//! Reading, making, changing and removing broadcast messages.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    access::{Administrate, Anyone},
    audit::{AuditPlace, AuditRecord},
    page::{Page, PageRequest},
};
use time::Duration;

use super::{BroadcastMessage, BroadcastStore as _, BroadcastType};

/// How long a message is shown that does not say it.
const USUAL_TIME: Duration = Duration::hours(1);
const COLOR: &str = "#E75E40";
const FONT: &str = "#FFFFFF";
/// More than anybody reads.
const LONGEST: usize = 10_000;
/// How many characters of a message name it in an audit event.
const LONGEST_NAME: usize = 255;

/// Fields of a message to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct BroadcastChange {
    pub message: Option<String>,
    pub starts_at: Option<Ts>,
    pub ends_at: Option<Ts>,
    pub color: Option<String>,
    pub font: Option<String>,
    pub target_access_levels: Option<Vec<i64>>,
    pub target_path: Option<Option<String>>,
    pub broadcast_type: Option<BroadcastType>,
    pub dismissable: Option<bool>,
}

pub fn list(
    tx: &mut Tx<'_>,
    _: &Grant<Anyone>,
    page: PageRequest,
) -> Result<Page<BroadcastMessage>> {
    tx.broadcast_messages(page)
}

pub fn read(tx: &mut Tx<'_>, _: &Grant<Anyone>, id: i64) -> Result<BroadcastMessage> {
    find(tx, id)
}

fn find(tx: &mut Tx<'_>, id: i64) -> Result<BroadcastMessage> {
    tx.broadcast_message(id)?.ok_or_else(Error::missing)
}

pub fn create(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    change: BroadcastChange,
) -> Result<BroadcastMessage> {
    let starts_at = change.starts_at.unwrap_or(tx.now);
    let usual = BroadcastMessage {
        id: 0,
        message: String::new(),
        starts_at,
        ends_at: starts_at.plus(USUAL_TIME),
        color: COLOR.to_owned(),
        font: FONT.to_owned(),
        target_access_levels: "[]".to_owned(),
        target_path: None,
        broadcast_type: BroadcastType::Banner,
        dismissable: false,
        created_at: tx.now,
        updated_at: tx.now,
    };
    let new = change.applied(usual)?;
    let made = tx.insert_broadcast_message(&new)?;
    record(
        tx,
        &made,
        AuditRecord::addition("broadcast_message_created", AuditPlace::Instance, WHAT),
    );
    Ok(made)
}

const WHAT: &str = "broadcast_message";

/// Writes down who did it, with the beginning of the text.
fn record(tx: &mut Tx<'_>, message: &BroadcastMessage, action: AuditRecord) {
    let name: String = message.message.chars().take(LONGEST_NAME).collect();
    tx.mention(action.target("BroadcastMessage", message.id, name));
}

/// Changes a message. What changes nothing leaves no trace.
pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    id: i64,
    change: BroadcastChange,
) -> Result<BroadcastMessage> {
    let old = find(tx, id)?;
    let new = change.applied(old.clone())?;
    if new == old {
        return Ok(old);
    }
    let new = BroadcastMessage { updated_at: tx.now, ..new };
    tx.save_broadcast_message(&new)?;
    let changed = AuditRecord::change("broadcast_message_updated", AuditPlace::Instance, WHAT);
    record(tx, &new, changed);
    Ok(new)
}

/// Removes a message, and returns what it was.
pub fn remove(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: i64) -> Result<BroadcastMessage> {
    let old = find(tx, id)?;
    tx.delete_broadcast_message(id)?;
    let gone = AuditRecord::removal("broadcast_message_deleted", AuditPlace::Instance, WHAT);
    record(tx, &old, gone);
    Ok(old)
}

impl BroadcastChange {
    fn applied(self, old: BroadcastMessage) -> Result<BroadcastMessage> {
        let levels = self.target_access_levels.map(|levels| {
            let texts: Vec<String> = levels.iter().map(i64::to_string).collect();
            format!("[{}]", texts.join(","))
        });
        let new = BroadcastMessage {
            message: self.message.unwrap_or(old.message),
            starts_at: self.starts_at.unwrap_or(old.starts_at),
            ends_at: self.ends_at.unwrap_or(old.ends_at),
            color: self.color.unwrap_or(old.color),
            font: self.font.unwrap_or(old.font),
            target_access_levels: levels.unwrap_or(old.target_access_levels),
            target_path: self.target_path.unwrap_or(old.target_path),
            broadcast_type: self.broadcast_type.unwrap_or(old.broadcast_type),
            dismissable: self.dismissable.unwrap_or(old.dismissable),
            ..old
        };
        check(&new)?;
        Ok(new)
    }
}

fn check(message: &BroadcastMessage) -> Result<()> {
    let mut faults = Faults::default();
    if message.message.trim().is_empty() {
        faults.add("message", "can't be blank");
    }
    faults.at_most("message", Some(&message.message), LONGEST);
    faults.at_most("target_path", message.target_path.as_deref(), 255);
    for (name, color) in [("color", &message.color), ("font", &message.font)] {
        if csscolorparser::parse(color).is_err() {
            faults.add(name, "must be a valid color code");
        }
    }
    if message.ends_at < message.starts_at {
        faults.add("ends_at", "must be after the start");
    }
    faults.into_result()
}
