//! Queries for projects and topics.

use std::sync::Arc;

use entities::org::topic::TopicEntity;
use graphql::{Arguments, Failure, Registry, Value};
use kernel::ids::ProjectId;
use org::{
    project::list::{Order, OrderBy, ProjectFilter, ProjectLists as _, ProjectSet, Sort},
    topic::{TopicFilter, TopicRecordStore as _},
};

use super::{
    by_id::connection_by_id,
    fields,
    record::{connection, find, project},
};
use crate::{
    context::Context,
    failure::failure_of,
    numbered_list::NumberedList,
    values::{ids, markdown, texts},
};

pub(crate) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "ContainerExpirationPolicy",
        "ForkDetails",
        "ProjectPermissions",
        "ProjectStatistics",
        "PushRules",
        "RepositoryLanguage",
    ]);
    registry
        .query()
        .lookup("project", |_, arguments, context| async move {
            let found = find(&context, &arguments.text("fullPath")?).await?;
            Ok(found.map_or(Value::Null, project))
        })
        .lookup("projects", |_, arguments, context| async move { list(&context, &arguments).await })
        .lookup(
            "topics",
            |_, arguments, context| async move { topics(&context, &arguments).await },
        );
    fields::add(registry.object("Project"));
    registry
        .object::<TopicEntity>("Topic")
        .plain("avatarUrl", |topic| topic.avatar_url.clone().into())
        .plain("description", |topic| topic.description.clone().into())
        .plain("id", |topic| Value::gid("Projects::Topic", topic.id))
        .plain("name", |topic| topic.name.as_str().into())
        .plain("title", |topic| topic.title.as_str().into())
        .lookup("descriptionHtml", |topic, _, context| async move {
            markdown(&context.forge, topic.description.as_deref(), None).await
        });
}

/// The fields that lists of projects can be ordered by.
fn order(sort: &str) -> Result<Order, Failure> {
    let sort = sort.to_lowercase();
    let unknown = || Failure::Message(format!("`{sort}` is no order of projects"));
    let (field, direction) = sort.rsplit_once('_').unwrap_or((&sort, "desc"));
    let by = match field {
        "similarity" => OrderBy::Similarity,
        "id" => OrderBy::Id,
        "name" => OrderBy::Name,
        "path" => OrderBy::Path,
        "created" | "created_at" => OrderBy::CreatedAt,
        "updated" | "updated_at" => OrderBy::UpdatedAt,
        "last_activity" | "last_activity_at" | "latest_activity" => OrderBy::LastActivityAt,
        "stars" | "star_count" => OrderBy::StarCount,
        _ if sort == "similarity" => OrderBy::Similarity,
        _ => return Err(unknown()),
    };
    let sort = match direction {
        "asc" => Sort::Ascending,
        _ => Sort::Descending,
    };
    Ok(Order { by, sort })
}

async fn list(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let ids = ids(arguments, "ids", &["Project"])?;
    let filter = ProjectFilter {
        among: ProjectSet::All,
        ids: ids.map(|ids| ids.into_iter().map(ProjectId).collect()),
        membership: arguments.flag("membership"),
        search: arguments.maybe_text("search"),
        search_namespaces: arguments.flag("searchNamespaces"),
        topics: texts(arguments, "topics")?.unwrap_or_default(),
        ..ProjectFilter::default()
    };
    let order = order(&arguments.text("sort")?)?;
    if order.by == OrderBy::Id {
        let list = (filter, order.sort);
        return connection_by_id(context, &page, list, arguments.counts()).await;
    }
    let (actor, window) = (context.actor(), page.clone());
    let found = context.forge.db.read(move |tx| {
        NumberedList::read(&window, |request| tx.projects(actor, &filter, order, request))
    });
    connection(context, &page, found.await.map_err(failure_of)?).await
}

async fn topics(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let filter = TopicFilter { search: arguments.maybe_text("search"), without_projects: false };
    let (window, urls) = (page.clone(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| {
        let found = NumberedList::read(&window, |request| tx.topics(&filter, request))?;
        Ok(found.map(|topic| TopicEntity::new(&urls, 0, topic)))
    });
    let found = found.await.map_err(failure_of)?;
    Ok(found.connection(&page, |topic| Value::object("Topic", Arc::new(topic))).into())
}
