//! To-dos.

use entities::review::todo::TodoEntity;
use forge::ports::directory::Directory;
use kernel::{
    Grant,
    access::SignedIn,
    ids::{NamespaceId, ProjectId, TodoId, UserId},
};
use review::{
    item::{ItemKind, ParticipationGrant},
    policy::{CreateIssues, DiscussEpics, TakePartInMergeRequests},
    todo::{
        TodoAction, TodoState, TodoStore as _,
        actions::{self, TodoFilter},
    },
};

use super::item_params::{NamesItem, OnItems};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::NoParams},
    param_enums, params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "To-dos" at "";
    GET  "/todos"                                                => list       : SignedIn,
    POST "/todos/mark_as_done"                                   => finish_all : SignedIn,
    POST "/todos/{todo_id}/mark_as_done"                         => finish     : SignedIn,
    POST "/projects/{id}/issues/{issue_iid}/todo"                => create     : CreateIssues,
    POST "/projects/{id}/merge_requests/{merge_request_iid}/todo" => create    : TakePartInMergeRequests,
    POST "/groups/{id}/epics/{epic_iid}/todo"                    => create     : DiscussEpics,
}

kernel::text_enum! {
    /// What a to-do can be about.
    enum TargetType {
        Issue = "Issue",
        MergeRequest = "MergeRequest",
        Epic = "Epic",
        Commit = "Commit",
        Design = "DesignManagement::Design",
        Alert = "AlertManagement::Alert",
    }
}

param_enums! { TodoAction, TodoState, TargetType }

params! {
    struct ListTodos: paged {
        action: Option<TodoAction>,
        author_id: Option<UserId>,
        project_id: Option<ProjectId>,
        /// ID of a group; includes its subgroups.
        group_id: Option<NamespaceId>,
        state: Option<TodoState>,
        r#type: Option<TargetType>,
    }
}

params! {
    struct OneTodo {
        todo_id: TodoId,
    }
}

async fn list(app: App, call: Call<SignedIn, ListTodos>) -> ApiResult<PagedList<TodoEntity>> {
    let (actor, page, params) = (call.grant.actor(), call.page, call.params);
    let kind = match params.r#type {
        None => None,
        Some(TargetType::Issue) => Some(ItemKind::Issue),
        Some(TargetType::MergeRequest) => Some(ItemKind::MergeRequest),
        Some(TargetType::Epic) => Some(ItemKind::Epic),
        // Nobody is asked to look at these.
        Some(TargetType::Commit | TargetType::Design | TargetType::Alert) => {
            return Ok(PagedList(page.slice(Vec::new())));
        }
    };
    let filter = TodoFilter {
        actions: params.action.into_iter().collect(),
        authors: params.author_id.into_iter().collect(),
        projects: params.project_id.into_iter().collect(),
        groups: params.group_id.into_iter().collect(),
        states: params.state.into_iter().collect(),
        kinds: kind.into_iter().collect(),
    };
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let todos = actions::list(tx, &directory, actor, &filter, page)?;
        todos.try_map_all(|todos| TodoEntity::all(tx, &urls, actor, todos))
    });
    Ok(PagedList(found.await?))
}

async fn finish(app: App, call: Call<SignedIn, OneTodo>) -> ApiResult<Created<TodoEntity>> {
    let (actor, id, urls) = (call.grant.actor(), call.params.todo_id, app.urls.clone());
    let directory = Directory::new(&app.urls);
    let done = app.db.write(move |tx| {
        let todo = actions::finish(tx, &directory, actor, id)?;
        TodoEntity::one(tx, &urls, actor, todo)
    });
    Ok(Created(done.await?))
}

async fn finish_all(app: App, call: Call<SignedIn, NoParams>) -> ApiResult<NoContent> {
    let user = call.grant.user()?;
    app.db.write(move |tx| tx.finish_todos_of(user)).await?;
    Ok(NoContent)
}

async fn create<A: OnItems>(app: App, call: Call<A, A::Path>) -> ApiResult<Created<TodoEntity>>
where
    Grant<A>: ParticipationGrant,
{
    let (grant, iid, urls) = (call.grant, call.params.iid(), app.urls.clone());
    let made = app.db.write(move |tx| {
        let todo = actions::create(tx, &grant, iid)?;
        TodoEntity::one(tx, &urls, grant.actor(), todo)
    });
    Ok(Created(made.await?))
}
