//! Labels of projects and groups.

use std::sync::Arc;

use db::keyset::{RowPosition, SortValue};
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Grant, Result, ids::LabelId};
use review::{
    Labels, ManageGrant, ReadGrant,
    label::{
        Label, LabelName, NameEdge,
        actions::{self, ListedLabels, NewLabel},
        text_color,
    },
    policy::{ManageGroupLabels, ManageLabels, ReadGroupLabels, ReadLabels},
};

use super::{
    context::Context,
    failure::{done, failure_of, visible},
    groups, projects,
    values::time,
    windowed_page::{CursorOrder, WindowedPage},
};

pub fn label(label: Label) -> Value {
    Value::object("Label", Arc::new(label))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<Label>("Label")
        .plain("color", |label| label.color.as_str().into())
        .plain("createdAt", |label| time(label.created_at))
        .plain("description", |label| label.description.clone().into())
        .plain("id", |label| {
            let class = if label.project_id.is_some() { "ProjectLabel" } else { "GroupLabel" };
            Value::gid(class, label.id)
        })
        .plain("textColor", |label| text_color(&label.color).into())
        .plain("title", |label| label.name.as_str().into())
        .plain("updatedAt", |label| time(label.updated_at))
        .plain("descriptionHtml", |label| label.description.as_deref().map(markup::inline).into());
    registry
        .mutation("labelCreate", |input, context| async move { create(&context, &input).await });
}

/// A label that can be used in a project or group, by its title.
///
/// # Errors
/// When the database failed.
pub(super) async fn named(
    context: &Context,
    grant: Result<impl ReadGrant<Labels> + Clone + Send + 'static>,
    title: String,
) -> Result<Value, Failure> {
    let Some(grant) = visible(grant)? else { return Ok(Value::Null) };
    let found = context
        .forge
        .db
        .peek(move |tx| actions::read(tx, &grant, &OrgHierarchy, &LabelName::Name(title)));
    Ok(visible(found.await)?.map_or(Value::Null, label))
}

/// Labels of a project.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_project(
    context: &Context,
    grant: Result<Grant<ReadLabels>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    list(context, grant, arguments, |_| (false, false)).await
}

/// Labels of a group.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_group(
    context: &Context,
    grant: Result<Grant<ReadGroupLabels>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let further = |arguments: &Arguments| {
        let below = arguments.flag("includeDescendantGroups");
        (below, !arguments.flag("onlyGroupLabels"))
    };
    list(context, grant, arguments, further).await
}

/// A page of labels; `further` tells whether those of groups inside, and those of projects, belong to it.
async fn list(
    context: &Context,
    grant: Result<impl ReadGrant<Labels> + Clone + Send + 'static>,
    arguments: &Arguments,
    further: impl FnOnce(&Arguments) -> (bool, bool),
) -> Result<Value, Failure> {
    let page = WindowedPage::new(arguments.page()?, CursorOrder::Text("name"))?.forwards();
    let Some(grant) = visible(grant)? else { return Ok(Value::Null) };
    let (of_descendants, of_projects) = further(arguments);
    let listed = ListedLabels {
        of_ancestors: arguments.flag("includeAncestorGroups"),
        of_descendants,
        of_projects,
        search: arguments.maybe_text("searchTerm"),
        name: arguments.maybe_text("title"),
    };
    let (asked, counts) = (page.clone(), arguments.counts());
    let found = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| {
            let (after, before) = (edge(window.after.as_ref()), edge(window.before.as_ref()));
            let edges = (after.as_ref(), before.as_ref());
            actions::list_between(tx, &grant, &OrgHierarchy, listed.clone(), edges, part)
        })
    });
    let found = found.await.map_err(failure_of)?;
    let position = |row: &Label| RowPosition::of_text(&row.name, row.id.0);
    Ok(page.connection(found, position, label).into())
}

/// The name and the id at which a list goes on.
fn edge(position: Option<&RowPosition>) -> Option<NameEdge> {
    let position = position?;
    match &position.value {
        Some(SortValue::Text(name)) => Some((name.clone(), LabelId(position.id))),
        _ => None,
    }
}

async fn create(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let new = NewLabel {
        name: input.text("title")?,
        color: input.text("color")?,
        description: input.maybe_text("description"),
        priority: None,
    };
    match (input.maybe_text("projectPath"), input.maybe_text("groupPath")) {
        (Some(path), None) => {
            let grant = projects::named(context, &path).await?.grant::<ManageLabels>();
            made(context, grant.map_err(failure_of)?, new).await
        }
        (None, Some(path)) => {
            let grant = groups::named(context, &path).await?.grant::<ManageGroupLabels>();
            made(context, grant.map_err(failure_of)?, new).await
        }
        _ => Err(Failure::one_of(&["groupPath", "projectPath"])),
    }
}

async fn made(
    context: &Context,
    grant: impl ManageGrant<Labels> + Clone + Send + 'static,
    new: NewLabel,
) -> Result<Payload, Failure> {
    let made =
        context.forge.db.write(move |tx| actions::create(tx, &grant, &OrgHierarchy, &new)).await;
    Ok(match done(made)? {
        Ok(made) => Payload::new().field("label", label(made)),
        Err(sentences) => Payload::errors(sentences),
    })
}
