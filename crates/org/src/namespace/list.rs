//! Lists of groups and namespaces: which ones, in which order, one page at a time.

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{members, namespace_access, namespaces},
};
use diesel::{dsl::case_when, prelude::*, sql_types::Integer};
use kernel::{
    AccessLevel, Result, Visibility,
    ids::UserId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    GroupFilter, Kind, Namespace,
    model::{GroupOrder, Place, Reach},
};
use crate::search::{beginning, containing};

pub trait NamespaceLists {
    fn groups(&mut self, filter: &GroupFilter, page: PageRequest) -> Result<Page<Namespace>>;
    /// Personal namespaces of `user` and groups with a role in; everything for `None`.
    fn namespaces(
        &mut self,
        user: Option<UserId>,
        search: Option<&str>,
        owned_only: bool,
        page: PageRequest,
    ) -> Result<Page<Namespace>>;
}

impl NamespaceLists for Tx<'_> {
    #[expect(
        clippy::too_many_lines,
        reason = "one query, whose filters are compiled for each database"
    )]
    fn groups(&mut self, filter: &GroupFilter, page: PageRequest) -> Result<Page<Namespace>> {
        let words = SearchWords::of(filter.search.as_deref());
        let short = matches!(filter.place, Place::Under(_) | Place::Below(_));
        each_backend!(self, |conn| {
            let chosen = || {
                let mut query = namespaces::table
                    .filter(namespaces::kind.eq(Kind::Group))
                    .filter(namespaces::deleted_at.is_null())
                    .into_boxed();
                let mine = |user: UserId, level: AccessLevel| {
                    namespaces::id.eq_any(
                        namespace_access::table
                            .filter(namespace_access::user_id.eq(user))
                            .filter(namespace_access::access_level.ge(level))
                            .select(namespace_access::namespace_id),
                    )
                };
                let open = namespaces::visibility.eq(Visibility::Public);
                let inside = namespaces::visibility.eq(Visibility::Internal);
                query = match filter.reach {
                    Reach::All => query,
                    Reach::Open { user: None, .. } => query.filter(open),
                    Reach::Open { user: Some(user), internal: true } => {
                        query.filter(open.or(inside).or(mine(user, AccessLevel::Minimal)))
                    }
                    Reach::Open { user: Some(user), internal: false } => {
                        query.filter(open.or(mine(user, AccessLevel::Minimal)))
                    }
                    Reach::Member { user, level } => query.filter(mine(user, level)),
                    Reach::Owned { user } => query.filter(
                        namespaces::id.nullable().eq_any(
                            members::table
                                .filter(members::user_id.eq(user))
                                .filter(members::access_level.eq(AccessLevel::Owner))
                                .select(members::namespace_id),
                        ),
                    ),
                };
                query = match &filter.place {
                    Place::Anywhere => query,
                    Place::TopLevel => query.filter(namespaces::parent_id.is_null()),
                    Place::Under(parent) => query.filter(namespaces::parent_id.eq(*parent)),
                    Place::Below(path) => query.filter(
                        namespaces::path_key
                            .like(beginning(&format!("{}/", path.to_lowercase())))
                            .escape('\\'),
                    ),
                };
                if !filter.skip.is_empty() {
                    query = query.filter(namespaces::id.ne_all(&filter.skip));
                }
                if let Some(whole) = &words.whole {
                    query = match short {
                        true => query.filter(
                            lower(namespaces::path).eq(whole).or(lower(namespaces::name).eq(whole)),
                        ),
                        false => query.filter(
                            namespaces::path_key
                                .eq(whole)
                                .or(lower(namespaces::full_name).eq(whole)),
                        ),
                    };
                }
                for part in &words.parts {
                    query = match short {
                        true => query.filter(
                            lower(namespaces::path).like(part).escape('\\').or(lower(
                                namespaces::name,
                            )
                            .like(part)
                            .escape('\\')),
                        ),
                        false => query.filter(
                            namespaces::path_key.like(part).escape('\\').or(lower(
                                namespaces::full_name,
                            )
                            .like(part)
                            .escape('\\')),
                        ),
                    };
                }
                if let Some((name, id)) = &filter.after {
                    query = query.filter(
                        namespaces::name
                            .gt(name)
                            .or(namespaces::name.eq(name).and(namespaces::id.gt(*id))),
                    );
                }
                query
            };
            let order = match (filter.order, &filter.search) {
                (GroupOrder::Similarity, None) => GroupOrder::Name,
                (order, _) => order,
            };
            let term = filter.search.as_deref().unwrap_or_default().to_lowercase();
            let query = match (order, filter.descending) {
                (GroupOrder::Name, false) => chosen().order_by(namespaces::name.asc()),
                (GroupOrder::Name, true) => chosen().order_by(namespaces::name.desc()),
                (GroupOrder::Path, false) => chosen().order_by(namespaces::path.asc()),
                (GroupOrder::Path, true) => chosen().order_by(namespaces::path.desc()),
                (GroupOrder::Id, false) => chosen().order_by(namespaces::id.asc()),
                (GroupOrder::Id, true) => chosen().order_by(namespaces::id.desc()),
                (GroupOrder::Similarity, _) => {
                    let same =
                        lower(namespaces::path).eq(&term).or(lower(namespaces::name).eq(&term));
                    let begins = lower(namespaces::name).like(beginning(&term)).escape('\\');
                    let rank = case_when(same, 0.into_sql::<Integer>())
                        .when(begins, 1.into_sql::<Integer>())
                        .otherwise(2.into_sql::<Integer>());
                    chosen().order_by((rank, namespaces::parent_id.desc()))
                }
            };
            let items: Vec<Namespace> = query
                .then_order_by(namespaces::id.asc())
                .select(Namespace::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error("Group"))?;
            let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
            let total: i64 = CountOf(counted).get_result(conn).map_err(error("Group"))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn namespaces(
        &mut self,
        user: Option<UserId>,
        search: Option<&str>,
        owned_only: bool,
        page: PageRequest,
    ) -> Result<Page<Namespace>> {
        let words = SearchWords::of(search);
        let level = if owned_only { AccessLevel::Owner } else { AccessLevel::Minimal };
        each_backend!(self, |conn| {
            let chosen = || {
                let mut query =
                    namespaces::table.filter(namespaces::deleted_at.is_null()).into_boxed();
                if let Some(user) = user {
                    query = query.filter(
                        namespaces::id.eq_any(
                            namespace_access::table
                                .filter(namespace_access::user_id.eq(user))
                                .filter(namespace_access::access_level.ge(level))
                                .select(namespace_access::namespace_id),
                        ),
                    );
                }
                if let Some(whole) = &words.whole {
                    query = query.filter(
                        lower(namespaces::path).eq(whole).or(lower(namespaces::name).eq(whole)),
                    );
                }
                for part in &words.parts {
                    query = query.filter(
                        lower(namespaces::path)
                            .like(part)
                            .escape('\\')
                            .or(lower(namespaces::name).like(part).escape('\\')),
                    );
                }
                query
            };
            let items: Vec<Namespace> = chosen()
                .order_by(namespaces::id.asc())
                .select(Namespace::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error("Namespace"))?;
            let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
            let total: i64 = CountOf(counted).get_result(conn).map_err(error("Namespace"))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }
}

/// What a search for groups looks for: words of three letters or more anywhere, anything shorter as the whole text.
struct SearchWords {
    whole: Option<String>,
    parts: Vec<String>,
}

impl SearchWords {
    fn of(search: Option<&str>) -> Self {
        let term = search.unwrap_or_default().trim().to_lowercase();
        let long = term.split_whitespace().filter(|word| word.chars().count() >= 3);
        let parts: Vec<String> = long.map(containing).collect();
        let whole = (parts.is_empty() && !term.is_empty()).then_some(term);
        Self { whole, parts }
    }
}
