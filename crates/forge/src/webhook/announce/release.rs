//! Releases.

use admin::flags::Flag;
use db::Tx;
use kernel::Result;
use repo::release::{Event as Fact, ReleaseAction, ReleaseStore as _};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::Gaps,
        payload,
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &Fact) -> Result<()> {
    let project = fact.project;
    let Some((context, audience)) = by.place(tx, project, &[Flag::Releases])? else {
        return Ok(());
    };
    let Some(row) = tx.find_release(project, &fact.tag)? else { return Ok(()) };
    let action = match fact.action {
        ReleaseAction::Create => "create",
        ReleaseAction::Update => "update",
    };
    let news = News {
        flag: Flag::Releases,
        header: "Release Hook",
        project: Some(project),
        object: format!("release/{}", row.id),
        payload: payload::release::release(tx, &context, &row, action)?,
        gaps: Some(Gaps::commit(project, &row.sha, "/commit")),
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}
