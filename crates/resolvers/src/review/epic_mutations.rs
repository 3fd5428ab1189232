//! Making and changing epics.

use std::sync::Arc;

use db::Tx;
use forge::ports::directory::Directory;
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Error, Grant, Result as Kept, Ts, error::Kind, ids::LabelId};
use org::access::{IdOrPath, locate_project};
use review::{
    Home,
    epic::{
        Epic,
        actions::{self, EpicChange},
        issues as epic_issues,
    },
    issue::{IssueStep, actions as issues},
    item::{
        labels::{LabelChange, usable_names},
        reading,
        subscriptions::set_subscription,
    },
    policy::{DiscussEpics, ManageGroupEpics, ReadIssues},
};

use super::{
    epic::{EpicRecord, epic, epic_issue},
    issue::IssueRecord,
    scope,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    values::path_of,
};

type Answer = Result<Payload, Failure>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("createEpic", |input, context| async move {
        let grant = managed(&context, &input).await?;
        let change = change(&input)?;
        let labels = label_ids(&input)?;
        let directory = Directory::new(&context.forge.urls);
        let made = context.forge.db.write(move |tx| {
            let change = labelled(tx, &directory, &grant, change, &labels)?;
            actions::create(tx, &grant, &directory, change)
        });
        answer(&context, made.await).await
    });
    registry.mutation("updateEpic", |input, context| async move {
        let grant = managed(&context, &input).await?;
        let (change, iid) = (change(&input)?, iid(&input)?);
        let labels = label_ids(&input)?;
        let directory = Directory::new(&context.forge.urls);
        let kept = context.forge.db.write(move |tx| {
            let change = labelled(tx, &directory, &grant, change, &labels)?;
            actions::update(tx, &grant, &directory, iid, change)
        });
        answer(&context, kept.await).await
    });
    registry.mutation("epicSetSubscription", |input, context| async move {
        let path = input.text("groupPath")?;
        let grant = scope::group_grant_at::<DiscussEpics>(&context, path).await?;
        let (iid, wanted) = (iid(&input)?, input.flag("subscribedState"));
        let set = context.forge.db.write(move |tx| {
            let item = reading::read(tx, &grant, iid)?;
            match set_subscription(tx, &item, grant.user()?, wanted) {
                Err(failure) if failure.kind != Kind::Unchanged => Err(failure),
                Ok(()) | Err(_) => actions::of_item(tx, &item),
            }
        });
        answer(&context, set.await).await
    });
    registry.mutation(
        "epicAddIssue",
        |input, context| async move { add_issue(&context, &input).await },
    );
}

async fn managed(context: &Context, input: &Arguments) -> Result<Grant<ManageGroupEpics>, Failure> {
    scope::group_grant_at(context, input.text("groupPath")?).await
}

fn iid(input: &Arguments) -> Result<i64, Failure> {
    input.text("iid")?.parse().map_err(|_cause| Failure::NotFoundOrForbidden)
}

async fn record(context: &Context, row: Epic) -> Result<Option<Arc<EpicRecord>>, Failure> {
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| EpicRecord::all(tx, &urls, actor, vec![row])).await;
    Ok(found.map_err(failure_of)?.pop().map(Arc::new))
}

async fn answer(context: &Context, kept: Kept<Epic>) -> Answer {
    Ok(match done(kept)? {
        Ok(row) => {
            let shown: Value = record(context, row).await?.map(epic).into();
            Payload::new().field("epic", shown)
        }
        Err(errors) => Payload::errors(errors),
    })
}

fn change(input: &Arguments) -> Result<EpicChange, Failure> {
    let day = |name: &str| -> Result<Option<Option<Ts>>, Failure> {
        if !input.has(name) {
            return Ok(None);
        }
        let Some(text) = input.maybe_text(name) else { return Ok(Some(None)) };
        let date = kernel::time::parse_date(&text);
        let date =
            date.map_err(|_cause| Failure::message(format!("`{name}` must be a valid date")))?;
        Ok(Some(Some(Ts::from_date(date))))
    };
    Ok(EpicChange {
        title: input.maybe_text("title"),
        description: input.has("description").then(|| input.maybe_text("description")),
        confidential: input.maybe_bool("confidential"),
        color: input.maybe_text("color"),
        labels: LabelChange {
            all: None,
            add: input.texts("addLabels"),
            remove: input.texts("removeLabels"),
        },
        start_date_fixed: day("startDateFixed")?,
        start_date_is_fixed: input.maybe_bool("startDateIsFixed"),
        due_date_fixed: day("dueDateFixed")?,
        due_date_is_fixed: input.maybe_bool("dueDateIsFixed"),
        step: match input.maybe_enum("stateEvent").as_deref() {
            Some("CLOSE") => Some(IssueStep::Close),
            Some("REOPEN") => Some(IssueStep::Reopen),
            _ => None,
        },
        parent: match input.has("parentId") {
            true => Some(input.maybe_gid("parentId", &["Epic"])?),
            false => None,
        },
        at: None,
    })
}

/// Labels to add and to take away, by their ids.
type LabelIds = (Vec<LabelId>, Vec<LabelId>);

fn label_ids(input: &Arguments) -> Result<LabelIds, Failure> {
    let read = |name: &str| -> Result<Vec<LabelId>, Failure> {
        let one = |text: &String| match text.parse::<i64>() {
            Ok(number) => Ok(LabelId(number)),
            Err(_) => {
                graphql::number_of(text, &["Label", "ProjectLabel", "GroupLabel"]).map(LabelId)
            }
        };
        input.texts(name).iter().map(one).collect()
    };
    Ok((read("addLabelIds")?, read("removeLabelIds")?))
}

fn labelled(
    tx: &mut Tx<'_>,
    directory: &Directory,
    grant: &Grant<ManageGroupEpics>,
    mut change: EpicChange,
    (add, remove): &LabelIds,
) -> Kept<EpicChange> {
    let home = Home::Group(grant.group());
    change.labels.add.extend(usable_names(tx, directory, home, add)?);
    change.labels.remove.extend(usable_names(tx, directory, home, remove)?);
    Ok(change)
}

async fn add_issue(context: &Context, input: &Arguments) -> Answer {
    let grant = managed(context, input).await?;
    let (path, epic_iid) = (IdOrPath::Path(input.text("projectPath")?), iid(input)?);
    let issue_iid: i64 =
        input.text("issueIid")?.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let directory = Directory::new(&urls);
    let added = context.forge.db.write(move |tx| {
        let (project, who) = locate_project(tx, actor, &path)?;
        let reads = Grant::<ReadIssues>::check(&who, project)?;
        let issue = issues::find(tx, &reads, issue_iid)?;
        let (row, issue) = epic_issues::add(tx, &grant, &directory, epic_iid, issue.id)?;
        let issue = IssueRecord::all(tx, &urls, actor, vec![issue])?.pop();
        let epics = EpicRecord::all(tx, &urls, actor, vec![row])?.pop();
        epics.zip(issue).ok_or_else(Error::missing)
    });
    Ok(match done(added.await)? {
        Ok((found, issue)) => {
            let path = path_of(&context.forge.urls, &found.shown.web_url);
            Payload::new()
                .field("epic", epic(Arc::new(found)))
                .field("epicIssue", epic_issue(Arc::new(issue), path))
        }
        Err(errors) => Payload::errors(errors),
    })
}
