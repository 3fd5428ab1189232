//! The folders of a repository.

use entities::repo::tree::TreeEntryEntity;
use kernel::Error;
use repo::{
    policy::ReadCode,
    tree::{self, TreePart, TreeQuery},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, PathBytes},
    param_enums, params,
    present::{Either, KeysetList, PagedList},
    routes,
};

routes! { "Repository tree" at "/projects/{id}/repository/tree";
    GET "" => list : ReadCode,
}

kernel::text_enum! {
    /// By number, by the last entry of the page before, or everything at once.
    pub enum TreePagination { Legacy = "legacy", Keyset = "keyset", None = "none" }
}
param_enums! { TreePagination }

const NONE_NEEDS_RECURSIVE: &str = "pagination cannot be \"none\" unless \"recursive\" is true";

params! {
    pub struct ListTree: keyset {
        /// Branch, tag or commit SHA. Default: the default branch.
        r#ref: Option<String>,
        /// Folder to list. Default: the root.
        path: Option<PathBytes>,
        /// Whether to list subfolders recursively.
        recursive: bool = false,
        pagination: TreePagination = TreePagination::Legacy,
        /// Token from the link to the next page (keyset pagination).
        page_token: Option<String>,
    }
}

type Tree = Either<PagedList<TreeEntryEntity>, KeysetList<TreeEntryEntity>>;

async fn list(app: App, call: Call<ReadCode, ListTree>) -> ApiResult<Tree> {
    let (params, page, facts) = (call.params, call.page, call.grant.facts().clone());
    if params.pagination == TreePagination::None && !params.recursive {
        return Err(Error::bad_request().parameters(NONE_NEEDS_RECURSIVE).into());
    }
    let part = match params.pagination {
        TreePagination::Legacy => TreePart::Numbered(page),
        TreePagination::None => TreePart::All,
        TreePagination::Keyset => TreePart::After {
            token: params.page_token.filter(|token| !token.is_empty()),
            count: usize::try_from(page.per_page).unwrap_or(usize::MAX),
        },
    };
    let query = TreeQuery {
        at: params.r#ref.filter(|name| !name.is_empty()),
        path: params.path.unwrap_or_default().0.into(),
        deep: params.recursive,
    };
    let read = app.git_read(facts.id, move |reader| tree::list(reader, &facts, &query, &part));
    let entries = read.await?;
    Ok(match params.pagination {
        TreePagination::Legacy => Either::Left(PagedList(entries.map(TreeEntryEntity::from))),
        TreePagination::Keyset | TreePagination::None => {
            let page =
                KeysetList::of_page(entries, "page_token", |last| tree::token_of(&last.path));
            Either::Right(page.map(TreeEntryEntity::from))
        }
    })
}
