//! Carrying issues from list to list.

use std::sync::Arc;

use forge::ports::{directory::Directory, review::OrgHierarchy};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Grant, ids::IssueId};
use review::{
    board::moves::{IssueMove, ListPlace, move_issue},
    epic::EpicName,
    issue::order::Neighbors,
    item::ItemKind,
    policy::ManageIssues,
};

use super::mutations::{Answer, named};
use crate::{
    context::Context,
    failure::{done, failure_of},
    projects,
    review::issue::{IssueRecord, shared},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("issueMoveList", |input, context| async move { moved(&context, &input).await });
}

/// Behind all others of the list.
const END: i64 = -1;

/// A list by its number or its global id.
fn list(input: &Arguments, name: &str) -> Result<Option<i64>, Failure> {
    number(input, name, &["List"])
}

/// An id that may be written as a bare number.
fn number(input: &Arguments, name: &str, classes: &[&str]) -> Result<Option<i64>, Failure> {
    match input.maybe_text(name) {
        None => Ok(None),
        Some(text) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => input.maybe_gid(name, classes),
        },
    }
}

/// Where the issue is to go.
fn target(input: &Arguments) -> Result<IssueMove, Failure> {
    let (from, to) = (list(input, "fromListId")?, list(input, "toListId")?);
    let before = number(input, "moveBeforeId", &["Issue"])?.map(IssueId);
    let after = number(input, "moveAfterId", &["Issue"])?.map(IssueId);
    let position = input.maybe_int("positionInList");
    let epic = input.has("epicId");
    let lists = match (from, to) {
        (Some(from), Some(to)) => Some((from, to)),
        (None, None) => None,
        _ => return Err(Failure::message("Both fromListId and toListId must be present")),
    };
    let is_beside = before.is_some() || after.is_some();
    if lists.is_none() && !is_beside && !epic && position.is_none() {
        return Err(Failure::message(
            "At least one of the arguments fromListId, toListId, positionInList, moveAfterId, or moveBeforeId is \
             required",
        ));
    }
    let place = match position {
        None if is_beside => ListPlace::Between(Neighbors { first: before, second: after }),
        None => ListPlace::Unchanged,
        Some(_) if is_beside => {
            return Err(Failure::message(
                "positionInList is mutually exclusive with any of moveBeforeId or moveAfterId",
            ));
        }
        Some(_) if lists.is_none() => {
            return Err(Failure::message(
                "Both fromListId and toListId are required when positionInList is given",
            ));
        }
        Some(END) => ListPlace::End,
        Some(position) if position >= 0 => ListPlace::At(position),
        Some(_) => return Err(Failure::message("positionInList must be >= 0 or -1")),
    };
    let epic = match epic {
        true => Some(input.maybe_gid("epicId", &["Epic"])?.map(EpicName::Id)),
        false => None,
    };
    Ok(IssueMove { lists, place, epic })
}

async fn moved(context: &Context, input: &Arguments) -> Answer {
    let to = target(input)?;
    let project = projects::named(context, &input.text("projectPath")?).await?;
    let grant: Grant<ManageIssues> = project.grant().map_err(failure_of)?;
    let iid = input.text("iid")?.parse().unwrap_or(0_i64);
    let one = named(context, ItemKind::Issue, input.gid("boardId", &["Board"])?).await?;
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let directory = Directory::new(&context.forge.urls);
    let done_with = context.forge.db.write(move |tx| {
        let issue = move_issue(tx, &grant, (&directory, &OrgHierarchy), &one.whole, iid, &to)?;
        IssueRecord::all(tx, &urls, actor, vec![issue])
    });
    Ok(match done(done_with.await)? {
        Ok(mut rows) => Payload::new().field("issue", rows.pop().map(|one| shared(Arc::new(one)))),
        Err(errors) => Payload::errors(errors),
    })
}
