//! Access tokens of projects and groups that stop working soon.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::{
    member::Source,
    namespace::store::NamespaceStore as _,
    token::{AccessToken, notice::ExpiringTokens},
};
use serde_json::Value;

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News, plain},
        audience::Audience,
        payload::token,
    },
};

const HEADER: &str = "Resource Access Token Hook";

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &ExpiringTokens) -> Result<()> {
    let ExpiringTokens(tokens) = fact;
    tokens.iter().try_for_each(|(token, source)| match source {
        Source::Project(project) => of_project(tx, by, *project, token),
        Source::Group(group) => of_group(tx, by, *group, token),
    })
}

fn of_project(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    row: &AccessToken,
) -> Result<()> {
    let flags = [Flag::ResourceAccessTokens];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let payload = token::of_project(&context, row);
    let news = News { project: Some(project), ..news(row, payload) };
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn of_group(tx: &mut Tx<'_>, by: &Announcer, group: NamespaceId, row: &AccessToken) -> Result<()> {
    let audience = Audience::of_group(tx, group)?;
    if !audience.hears(Flag::ResourceAccessTokens) {
        return Ok(());
    }
    let Some(home) = tx.find_namespace(group)? else { return Ok(()) };
    let news = news(row, token::of_group(&home, row));
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn news(row: &AccessToken, payload: Value) -> News {
    plain(HEADER, Flag::ResourceAccessTokens, format!("access_token/{}", row.id), payload)
}
