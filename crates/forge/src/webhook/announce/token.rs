//! Access tokens of projects and groups that stop working soon.

use std::collections::HashMap;

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
const FLAG: Flag = Flag::ResourceAccessTokens;

/// Each project and group is looked up once, however many of its tokens end.
pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &ExpiringTokens) -> Result<()> {
    let mut by_source: HashMap<Source, Vec<&AccessToken>> = HashMap::new();
    for (token, source) in &fact.0 {
        by_source.entry(*source).or_default().push(token);
    }
    by_source.into_iter().try_for_each(|(source, tokens)| match source {
        Source::Project(project) => of_project(tx, by, project, &tokens),
        Source::Group(group) => of_group(tx, by, group, &tokens),
    })
}

fn of_project(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    rows: &[&AccessToken],
) -> Result<()> {
    let Some((context, audience)) = by.place(tx, project, &[FLAG])? else { return Ok(()) };
    let receivers = audience.receivers(FLAG, &EventTraits::default());
    let told = rows
        .iter()
        .map(|row| News { project: Some(project), ..news(row, token::of_project(&context, row)) });
    by.announce(tx, told, &receivers)
}

fn of_group(
    tx: &mut Tx<'_>,
    by: &Announcer,
    group: NamespaceId,
    rows: &[&AccessToken],
) -> Result<()> {
    let audience = Audience::of_group(tx, group)?;
    if !audience.hears(FLAG) {
        return Ok(());
    }
    let Some(home) = tx.find_namespace(group)? else { return Ok(()) };
    let receivers = audience.receivers(FLAG, &EventTraits::default());
    let told = rows.iter().map(|row| news(row, token::of_group(&home, row)));
    by.announce(tx, told, &receivers)
}

fn news(row: &AccessToken, payload: Value) -> News {
    plain(HEADER, FLAG, format!("access_token/{}", row.id), payload)
}
