//! Which facts are told to whom, and as what. Heard in the transaction that made them true: what is known of rows is
//! written down at once, what only git knows is added before it is sent.

mod alert;
mod deployment;
mod emoji;
mod issue;
mod merge_request;
mod milestone;
mod note;
mod pipeline;
mod release;
mod repository;
mod time;
mod token;
mod vulnerability;

use std::any::Any;

use db::Tx;
use kernel::{Result, event::Event};

pub(super) use self::note::note_subject;
use super::{announcer::Announcer, system_events};

/// Heard before the commit, in the same transaction.
pub(crate) fn on_event(tx: &mut Tx<'_>, announcer: &Announcer, fact: &dyn Event) -> Result<()> {
    let any: &dyn Any = fact;
    if let Some(fact) = any.downcast_ref() {
        return repository::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return issue::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return merge_request::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return merge_request::approval_heard(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return note::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return time::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return milestone::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return emoji::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return pipeline::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return deployment::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        alert::on_event(tx, announcer, fact)?;
        return vulnerability::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return token::on_event(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return release::on_event(tx, announcer, fact);
    }
    system_events::on_event(tx, announcer, any)
}
