//! The projects that people starred.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use db::Tx;
use forge::user::visibility::reads_profile;
use graphql::{Arguments, Failure, Value};
use kernel::{
    Actor, Result,
    ids::{ProjectId, UserId},
    page::PageRequest,
};
use org::project::{
    Project,
    list::{Order, OrderBy, ProjectFilter, ProjectLists as _, ProjectSet, Sort},
    stars::starred_by,
};

use crate::{context::Context, loaders::BatchLoader, projects};

/// The stars of all people of a query are read together up to so many; of more, each person's are read by themselves.
const MOST: usize = 2_000;

/// A person, and the words that the names of the projects hold.
type Key = (UserId, Option<String>);

/// The starred projects that the caller sees, the newest first; nothing where there are too many.
struct StarLoader(BatchLoader<Key, Option<Arc<Vec<Project>>>>);

impl StarLoader {
    fn of(context: &Context) -> Arc<Self> {
        let actor = context.actor();
        context
            .loaders
            .of(|db| Self(BatchLoader::new(db, move |tx, keys| starred(tx, actor, keys))))
    }
}

fn starred(
    tx: &mut Tx<'_>,
    actor: Actor,
    keys: &[Key],
) -> Result<HashMap<Key, Option<Arc<Vec<Project>>>>> {
    let users: Vec<UserId> = keys.iter().map(|(user, _)| *user).collect();
    let Some(stars) = starred_by(tx, &users, MOST)? else {
        return Ok(keys.iter().map(|key| (key.clone(), None)).collect());
    };
    let mut by_search: BTreeMap<&Option<String>, Vec<UserId>> = BTreeMap::new();
    for (user, search) in keys {
        by_search.entry(search).or_default().push(*user);
    }
    let mut all = HashMap::new();
    for (search, users) in by_search {
        let found = seen(tx, actor, search.clone(), &stars)?;
        for user in users {
            let own: HashSet<ProjectId> =
                stars.iter().filter(|(of, _)| *of == user).map(|(_, id)| *id).collect();
            let own = found.iter().filter(|project| own.contains(&project.id)).cloned().collect();
            all.insert((user, search.clone()), Some(Arc::new(own)));
        }
    }
    Ok(all)
}

/// Those of the projects that the caller sees, the newest first.
fn seen(
    tx: &mut Tx<'_>,
    actor: Actor,
    search: Option<String>,
    stars: &[(UserId, ProjectId)],
) -> Result<Vec<Project>> {
    let ids = HashSet::<ProjectId>::from_iter(stars.iter().map(|(_, id)| *id));
    let filter = ProjectFilter {
        among: ProjectSet::These(Vec::from_iter(ids)),
        search,
        ..ProjectFilter::default()
    };
    let order = Order { by: OrderBy::Id, sort: Sort::Descending };
    let page = PageRequest { page: 1, per_page: i64::try_from(MOST).unwrap_or(i64::MAX) };
    Ok(tx.projects(actor, &filter, order, page)?.items)
}

/// The projects that somebody starred. What a person keeps to themselves looks like nothing.
pub(super) async fn starred_projects(
    context: &Context,
    id: UserId,
    arguments: &Arguments,
) -> std::result::Result<Value, Failure> {
    let page = arguments.page()?;
    let owner = context.loaders.users.load(id).await?;
    let Some(owner) = owner.filter(|user| reads_profile(context.actor(), user)) else {
        return projects::connection_of(context, &page, &[]).await;
    };
    let search = arguments.maybe_text("search");
    let found = StarLoader::of(context).0.load((owner.id, search.clone())).await?;
    if let Some(found) = found.flatten() {
        return projects::connection_of(context, &page, &found).await;
    }
    let among = ProjectSet::StarredBy(owner.id);
    let filter = ProjectFilter { among, search, ..ProjectFilter::default() };
    let list = (filter, Sort::Descending);
    projects::connection_by_id(context, &page, list, arguments.counts()).await
}
