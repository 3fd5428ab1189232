//! The fields of groups and personal namespaces, and the queries and changes of them.

use std::sync::Arc;

use ci::pipeline::has_coverage;
use graphql::{Arguments, Connection, Failure, Fields, Payload, Registry, Value};
use kernel::{
    Actor,
    ids::{NamespaceId, ProjectId},
};
use org::{
    member::{MemberSource, Relations, related::RelatedMembers},
    namespace::{
        self, GroupDetails, GroupFilter, Kind,
        model::{GroupOrder, GroupSelection, TreeLevel},
        runners::SharedRunners,
    },
    policy::{AdminGroup, ReadGroupMembers},
    project::{
        in_group::GroupScope,
        list::{Order, OrderBy, ProjectFilter, ProjectLists as _, ProjectSet, Sort},
    },
};
use review::{Home, policy::ReadGroupLabels};
use security::scan::has_reports;

use super::{
    record::{GroupRecord, find, find_namespace, group, listed, named, of_id, permissions},
    statistics::{SumLoaders, root_statistics, tree_statistics},
};
use crate::{
    context::Context,
    failure::{done, failure_of, visible},
    iterations, labels, members, milestones,
    numbered_list::NumberedList,
    projects,
    values::{ids, markdown},
};

pub(crate) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "AccessLevel",
        "GroupPermissions",
        "GroupReleaseStats",
        "GroupStats",
        "PackageSettings",
        "RootStorageStatistics",
    ]);
    registry
        .query()
        .lookup("group", |_, arguments, context| async move {
            let found = find(&context, &arguments.text("fullPath")?).await?;
            Ok(found.map_or(Value::Null, group))
        })
        .lookup("groups", |_, arguments, context| async move { list(&context, &arguments).await })
        .lookup("namespace", |_, arguments, context| async move {
            find_namespace(&context, &arguments.text("fullPath")?).await
        });
    registry
        .mutation("groupUpdate", |input, context| async move { update(&context, &input).await });
    add_namespace_fields(registry.object("Namespace"));
    add_group_lists(add_group_fields(add_namespace_fields(registry.object("Group"))));
}

/// What groups and personal namespaces both have.
fn add_namespace_fields(
    fields: Fields<'_, Context, GroupRecord>,
) -> Fields<'_, Context, GroupRecord> {
    fields
        .plain("crossProjectPipelineAvailable", |_| true.into())
        .plain("description", |record| record.group.description.clone().into())
        .plain("fullName", |record| record.group.full_name.as_str().into())
        .plain("fullPath", |record| record.group.full_path.as_str().into())
        .plain("id", |record| {
            let class = match record.group.kind {
                Kind::Group => "Group",
                Kind::User => "Namespaces::UserNamespace",
            };
            Value::gid(class, record.id())
        })
        .plain("lfsEnabled", |record| record.group.settings().lfs_enabled.unwrap_or(true).into())
        .plain("name", |record| record.group.name.as_str().into())
        .plain("path", |record| record.group.path.as_str().into())
        .plain("requestAccessEnabled", |record| {
            record.group.settings().request_access_enabled.into()
        })
        .plain("sharedRunnersSetting", |record| {
            record.group.settings().shared_runners_setting().to_string().to_uppercase().into()
        })
        .plain("visibility", |record| record.group.visibility.to_string().into())
        .lookup("descriptionHtml", |record, _, context| async move {
            markdown(&context.forge, record.group.description.as_deref(), None).await
        })
        .lookup("projects", |record, arguments, context| async move {
            projects_of(&context, &record, &arguments).await
        })
        .lookup("rootStorageStatistics", |record, arguments, context| async move {
            // Sums are told of whole trees alone.
            match record.group.parent_id {
                Some(_) => Ok(Value::Null),
                None => root_statistics(&context, &record, &arguments).await,
            }
        })
        .lookup("totalRepositorySize", |record, _, context| async move {
            let sums = tree_statistics(&context, &record).await?;
            Ok(sums
                .map(|sums| projects::bytes(sums.repository_size + sums.lfs_objects_size))
                .into())
        })
        .none(&[
            "actualRepositorySizeLimit",
            "additionalPurchasedStorageSize",
            "complianceFrameworks",
            "containsLockedProjects",
            "isTemporaryStorageIncreaseEnabled",
            "packageSettings",
            "repositorySizeExcessProjectCount",
            "scanExecutionPolicies",
            "scanResultPolicies",
            "storageSizeLimit",
            "temporaryStorageIncreaseEndsOn",
            "timelogCategories",
            "totalRepositorySizeExcess",
        ])
}

fn add_group_fields(fields: Fields<'_, Context, GroupRecord>) -> Fields<'_, Context, GroupRecord> {
    fields
        .plain("autoDevopsEnabled", |record| record.group.settings().auto_devops_enabled.into())
        .plain("emailsDisabled", |record| record.group.settings().emails_disabled.into())
        .plain("epicsEnabled", |_| true.into())
        .plain("mentionsDisabled", |record| record.group.settings().mentions_disabled.into())
        .plain("projectCreationLevel", |record| record.group.project_creation_level.as_str().into())
        .plain("requireTwoFactorAuthentication", |record| {
            record.group.settings().require_two_factor_authentication.into()
        })
        .plain("shareWithGroupLock", |record| record.group.settings().share_with_group_lock.into())
        .plain("subgroupCreationLevel", |record| {
            record.group.subgroup_creation_level.as_str().into()
        })
        .plain("twoFactorGracePeriod", |record| {
            record.group.settings().two_factor_grace_period.into()
        })
        .plain("userPermissions", permissions)
        .lookup("avatarUrl", |record: Arc<GroupRecord>, _, context| async move {
            let id = record.id();
            let address = |file: &String| {
                context.forge.urls.at(&format!("uploads/-/system/group/avatar/{id}/{file}"))
            };
            Ok(record.group.avatar.as_ref().map(address).into())
        })
        .lookup("dependencyProxyImagePrefix", |record, _, context| async move {
            let path = record.group.full_path.to_lowercase();
            Ok(format!("{}/{path}/dependency_proxy/containers", context.forge.urls.host()).into())
        })
        .lookup("webUrl", |record, _, context| async move {
            Ok(context.forge.urls.at(&format!("groups/{}", record.group.full_path)).into())
        })
        .lookup("parent", |record, _, context| async move {
            match record.group.parent_id {
                Some(parent) => of_id(&context, parent).await,
                None => Ok(Value::Null),
            }
        })
}

/// What lies in a group, and what does not exist here.
fn add_group_lists(fields: Fields<'_, Context, GroupRecord>) -> Fields<'_, Context, GroupRecord> {
    fields
        .lookup("descendantGroups", |record: Arc<GroupRecord>, arguments, context| async move {
            descendants(&context, &record, &arguments).await
        })
        .lookup("groupMembers", |record, arguments, context| async move {
            members_of(&context, &record, &arguments).await
        })
        .lookup("label", |record, arguments, context| async move {
            let grant = record.grant::<ReadGroupLabels>();
            labels::named(&context, grant, arguments.text("title")?).await
        })
        .lookup("labels", |record, arguments, context| async move {
            let grant = record.grant();
            labels::of_group(&context, grant, &arguments).await
        })
        .lookup("milestones", |record, arguments, context| async move {
            milestones::of_group(&context, record.grant(), &arguments).await
        })
        .lookup("iterations", |record, arguments, context| async move {
            iterations::of_group(&context, record.grant(), &arguments).await
        })
        .lookup("iterationCadences", |record, arguments, context| async move {
            iterations::cadences_of(&context, Home::Group(record.id()), &arguments).await
        })
        .lookup("billableMembersCount", |record, _, context| async move {
            // Only those who look after the group are told.
            let loaders = SumLoaders::of(&context.loaders, context.actor());
            Ok(loaders.seats.load(record.id()).await?.into())
        })
        .none(&[
            "allowStaleRunnerPruning",
            "clusterAgents",
            "codeCoverageActivities",
            "contactStateCounts",
            "contacts",
            "containerRepositories",
            "containerRepositoriesCount",
            "customEmoji",
            "dependencyProxyBlobCount",
            "dependencyProxyBlobs",
            "dependencyProxyImageCount",
            "dependencyProxyImageTtlPolicy",
            "dependencyProxyManifests",
            "dependencyProxySetting",
            "dependencyProxyTotalSize",
            "dora",
            "enforceFreeUserCap",
            "externalAuditEventDestinations",
            "organizations",
            "packages",
            "stats",
        ])
}

async fn projects_of(
    context: &Context,
    record: &GroupRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let among = match record.group.kind {
        Kind::User => ProjectSet::Namespace(record.id()),
        Kind::Group => ProjectSet::Group(GroupScope {
            id: record.id(),
            full_path: record.group.full_path.clone(),
            own: true,
            below: arguments.flag("includeSubgroups"),
            above: false,
            shared: false,
        }),
    };
    let ids = ids(arguments, "ids", &["Project"])?;
    let filter = ProjectFilter {
        among,
        ids: ids.map(|ids| ids.into_iter().map(ProjectId).collect()),
        search: arguments.maybe_text("search"),
        with_security_reports: arguments.flag("hasVulnerabilities").then(|| has_reports("p.id")),
        with_coverage: arguments.flag("hasCodeCoverage").then(|| has_coverage("p.id")),
        ..ProjectFilter::default()
    };
    let order = project_order(arguments.maybe_enum("sort").as_deref(), &filter);
    if order.by == OrderBy::Id {
        let list = (filter, order.sort);
        return projects::connection_by_id(context, &page, list, arguments.counts()).await;
    }
    let (actor, window) = (context.actor(), page.clone());
    let found = context.forge.db.read(move |tx| {
        NumberedList::read(&window, |request| tx.projects(actor, &filter, order, request))
    });
    projects::connection(context, &page, found.await.map_err(failure_of)?).await
}

fn project_order(sort: Option<&str>, filter: &ProjectFilter) -> Order {
    let searches = filter.search.as_deref().is_some_and(|text| !text.trim().is_empty());
    let (by, sort) = match sort {
        Some("SIMILARITY") if searches => (OrderBy::Similarity, Sort::Descending),
        Some("ACTIVITY_DESC") => (OrderBy::LastActivityAt, Sort::Descending),
        Some("STORAGE" | "STORAGE_SIZE_DESC") => (OrderBy::StorageSize, Sort::Descending),
        Some("STORAGE_SIZE_ASC") => (OrderBy::StorageSize, Sort::Ascending),
        Some("PATH_ASC") => (OrderBy::Path, Sort::Ascending),
        Some("PATH_DESC") => (OrderBy::Path, Sort::Descending),
        _ => (OrderBy::Id, Sort::Descending),
    };
    Order { by, sort }
}

/// Groups that the actor sees.
fn everything(actor: Actor) -> GroupSelection {
    match actor.id {
        Some(_) if actor.admin => GroupSelection::All,
        user => GroupSelection::Open { user, internal: user.is_some() && !actor.external },
    }
}

fn filter(actor: Actor, place: TreeLevel, arguments: &Arguments) -> GroupFilter {
    GroupFilter {
        actor,
        reach: everything(actor),
        place,
        search: arguments.maybe_text("search").filter(|text| !text.trim().is_empty()),
        skip: Vec::new(),
        ids: None,
        attributes: Vec::new(),
        elsewhere: false,
        order: GroupOrder::Name,
        descending: false,
        after: None,
    }
}

async fn list(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    let place = match arguments.flag("topLevelOnly") {
        true => TreeLevel::TopLevel,
        false => TreeLevel::Anywhere,
    };
    let ids = ids(arguments, "ids", &["Group"])?;
    let sort = arguments.text("sort")?.to_lowercase();
    let (field, direction) = sort.rsplit_once('_').unwrap_or((&sort, "asc"));
    let filter = GroupFilter {
        ids: ids.map(|ids| ids.into_iter().map(NamespaceId).collect()),
        order: match field {
            "path" => GroupOrder::Path,
            "id" | "created_at" => GroupOrder::Id,
            "name" => GroupOrder::Name,
            _ => return Err(Failure::Message(format!("`{sort}` is no order of groups"))),
        },
        descending: direction == "desc",
        ..filter(context.actor(), place, arguments)
    };
    listed(context, arguments.page()?, filter, arguments.counts()).await
}

async fn descendants(
    context: &Context,
    record: &GroupRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let place = match arguments.maybe_bool("includeParentDescendants").unwrap_or(true) {
        true => TreeLevel::Below(record.group.full_path.clone()),
        false => TreeLevel::Under(record.id()),
    };
    let mut filter = filter(context.actor(), place, arguments);
    if arguments.flag("owned") {
        let Some(user) = context.actor().id else { return Ok(Connection::empty().into()) };
        filter.reach = GroupSelection::Owned { user };
    }
    listed(context, arguments.page()?, filter, arguments.counts()).await
}

async fn members_of(
    context: &Context,
    record: &GroupRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(record.grant::<ReadGroupMembers>())? else { return Ok(Value::Null) };
    let relations = arguments.texts("relations");
    let has = |relation: &str| relations.iter().any(|given| given == relation);
    let relations = Relations {
        direct: has("DIRECT"),
        inherited: has("INHERITED"),
        descendants: has("DESCENDANTS"),
        invited: has("SHARED_FROM_GROUPS"),
        invited_above: has("SHARED_FROM_GROUPS"),
    };
    let wanted =
        RelatedMembers { relations, ..members::related_members(context.actor(), arguments) };
    members::list(context, MemberSource::group(&grant), wanted, arguments).await
}

async fn update(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let record = named(context, &input.text("fullPath")?).await?;
    let grant = record.grant::<AdminGroup>().map_err(failure_of)?;
    let setting = match input.text("sharedRunnersSetting")?.as_str() {
        "ENABLED" => SharedRunners::Enabled,
        "DISABLED_AND_UNOVERRIDABLE" => SharedRunners::DisabledAndUnoverridable,
        _ => SharedRunners::DisabledAndOverridable,
    };
    let updated = context.forge.db.write(move |tx| {
        let change = |details: &mut GroupDetails| details.settings.set_shared_runners(setting);
        namespace::actions::update(tx, &grant, change)
    });
    Ok(match done(updated.await)? {
        Ok(changed) => {
            let record = GroupRecord::new(changed, record.who);
            Payload::new().field("group", group(Arc::new(record)))
        }
        Err(sentences) => Payload::errors(sentences).field("group", group(record)),
    })
}
