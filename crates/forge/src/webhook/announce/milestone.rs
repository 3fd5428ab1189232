//! Milestones of projects and groups.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::namespace::store::NamespaceStore as _;
use review::milestone::event::{Event, Fact};
use serde_json::Value;

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News, plain},
        audience::Audience,
        payload::milestone,
    },
};

const HEADER: &str = "Milestone Hook";

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &Event) -> Result<()> {
    let (fact, action) = match fact {
        Event::MilestoneCreated(fact) => (fact, "create"),
        Event::MilestoneClosed(fact) => (fact, "close"),
        Event::MilestoneReopened(fact) => (fact, "reopen"),
        Event::MilestoneRemoved(fact) => (fact, "delete"),
        // There is no action for other changes.
        Event::MilestoneUpdated(_) => return Ok(()),
    };
    match (fact.project, fact.group) {
        (Some(project), _) => of_project(tx, by, project, (fact, action)),
        (None, Some(group)) => of_group(tx, by, group, (fact, action)),
        (None, None) => Ok(()),
    }
}

fn of_project(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    (fact, action): (&Fact, &str),
) -> Result<()> {
    let flags = [Flag::Milestones];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let payload = milestone::of_project(&context, fact, action);
    let news = News { project: Some(project), ..news(fact, payload) };
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn of_group(
    tx: &mut Tx<'_>,
    by: &Announcer,
    group: NamespaceId,
    (fact, action): (&Fact, &str),
) -> Result<()> {
    let audience = Audience::of_group(tx, group)?;
    if !audience.hears(Flag::Milestones) {
        return Ok(());
    }
    let Some(row) = tx.find_namespace(group)? else { return Ok(()) };
    let news = news(fact, milestone::of_group(&row, fact, action));
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn news(fact: &Fact, payload: Value) -> News {
    let object = format!("milestone/{}", fact.milestone);
    plain(HEADER, Flag::Milestones, object, payload)
}
