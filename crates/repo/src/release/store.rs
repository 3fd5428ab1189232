//! Releases in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    keyset::{ListOrder, ListWindow, RowPosition, WHOLE},
    listing::{self, Bind, Conditions, Selection, page_of_ids},
    schema::releases,
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, ReleaseId},
    page::{Page, PageRequest},
};

use super::{NewRelease, Release, ReleaseKey, ReleaseOrder};

const NOUN: &str = "Release";

impl ReleaseOrder {
    fn list_order(self) -> ListOrder {
        let column = match self.key {
            ReleaseKey::Released => "r.released_at",
            ReleaseKey::Created => "r.created_at",
        };
        ListOrder::of_number(column, !self.ascending, "r.id")
    }

    /// The place of a release in such a list.
    pub fn position(self, row: &Release) -> RowPosition {
        let at = match self.key {
            ReleaseKey::Released => row.released_at,
            ReleaseKey::Created => row.created_at,
        };
        RowPosition::of_number(at.0, row.id.0)
    }
}

pub trait ReleaseStore {
    fn releases(
        &mut self,
        project: ProjectId,
        order: ReleaseOrder,
        page: PageRequest,
    ) -> Result<Page<Release>> {
        self.releases_in(project, order, &WHOLE, page)
    }
    /// As [`releases`](Self::releases), of a part of the list.
    fn releases_in(
        &mut self,
        project: ProjectId,
        order: ReleaseOrder,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Release>>;
    /// A release of whatever project.
    fn release_by_id(&mut self, id: ReleaseId) -> Result<Option<Release>>;
    fn find_release(&mut self, project: ProjectId, tag: &str) -> Result<Option<Release>>;
    /// Those of some tags, in any order.
    fn releases_of_tags(&mut self, project: ProjectId, tags: &[String]) -> Result<Vec<Release>>;
    /// Those that were made after a release, by their ids; so many at most.
    fn releases_after(
        &mut self,
        project: ProjectId,
        after: ReleaseId,
        most: i64,
    ) -> Result<Vec<Release>>;
    /// Writes releases down, but for those of tags that have one; how many these were.
    fn insert_releases(&mut self, project: ProjectId, new: &[NewRelease]) -> Result<usize>;
    fn save_release(&mut self, row: &Release) -> Result<()>;
    /// Writes another description; the time of the last change stays as it was.
    fn save_release_description(&mut self, id: ReleaseId, text: &str) -> Result<()>;
    /// Notes that something that belongs to a release changed.
    fn touch_release(&mut self, id: ReleaseId) -> Result<()>;
    fn delete_release(&mut self, id: ReleaseId) -> Result<()>;
}

impl ReleaseStore for Tx<'_> {
    fn releases_in(
        &mut self,
        project: ProjectId,
        order: ReleaseOrder,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Release>> {
        let mut conditions = Conditions::default();
        conditions.number("r.project_id = {}", project.0);
        let list_order = order.list_order();
        list_order.narrow(&mut conditions, window);
        let from = format!("releases r WHERE {}", conditions.text());
        let binds: Vec<Bind> = conditions.binds;
        let selection = Selection {
            id: "r.id",
            from: from.clone(),
            binds: binds.clone(),
            order: list_order.sql(window),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let rows = releases::table.filter(releases::id.one_of(&ids));
            let rows: Vec<Release> = each_backend!(self, |conn| rows
                .select(Release::as_select())
                .load(conn)
                .map_err(error(NOUN)))?;
            let mut rows: HashMap<i64, Release> =
                rows.into_iter().map(|row| (row.id.0, row)).collect();
            Ok(ids.into_iter().filter_map(|id| rows.remove(&id)).collect())
        })
    }

    fn find_release(&mut self, project: ProjectId, tag: &str) -> Result<Option<Release>> {
        let row =
            releases::table.filter(releases::project_id.eq(project).and(releases::tag.eq(tag)));
        each_backend!(self, |conn| row
            .select(Release::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn release_by_id(&mut self, id: ReleaseId) -> Result<Option<Release>> {
        let row = releases::table.find(id);
        each_backend!(self, |conn| row
            .select(Release::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn releases_of_tags(&mut self, project: ProjectId, tags: &[String]) -> Result<Vec<Release>> {
        if tags.is_empty() {
            return Ok(Vec::new());
        }
        let rows = releases::table
            .filter(releases::project_id.eq(project))
            .filter(releases::tag.one_of(tags));
        each_backend!(self, |conn| rows
            .select(Release::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn releases_after(
        &mut self,
        project: ProjectId,
        after: ReleaseId,
        most: i64,
    ) -> Result<Vec<Release>> {
        let rows = releases::table
            .filter(releases::project_id.eq(project).and(releases::id.gt(after)))
            .order(releases::id)
            .limit(most);
        each_backend!(self, |conn| rows
            .select(Release::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn insert_releases(&mut self, project: ProjectId, new: &[NewRelease]) -> Result<usize> {
        let now = self.now;
        let rows: Vec<_> = new
            .iter()
            .map(|new| {
                (
                    releases::project_id.eq(project),
                    releases::tag.eq(&new.tag),
                    releases::name.eq(&new.name),
                    releases::description.eq(&new.description),
                    releases::author_id.eq(new.author_id),
                    releases::sha.eq(&new.sha),
                    releases::released_at.eq(new.released_at),
                    releases::created_at.eq(new.created_at),
                    releases::updated_at.eq(now),
                )
            })
            .collect();
        each_backend!(self, |conn| diesel::insert_into(releases::table)
            .values(rows)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error(NOUN)))
    }

    fn save_release(&mut self, row: &Release) -> Result<()> {
        let values = (
            releases::name.eq(&row.name),
            releases::description.eq(&row.description),
            releases::released_at.eq(row.released_at),
            releases::updated_at.eq(row.updated_at),
        );
        let update = diesel::update(releases::table.find(row.id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn save_release_description(&mut self, id: ReleaseId, text: &str) -> Result<()> {
        let update = diesel::update(releases::table.find(id)).set(releases::description.eq(text));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn touch_release(&mut self, id: ReleaseId) -> Result<()> {
        let update =
            diesel::update(releases::table.find(id)).set(releases::updated_at.eq(self.now));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_release(&mut self, id: ReleaseId) -> Result<()> {
        let gone = diesel::delete(releases::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}

/// Some releases of whatever projects, the newest first.
pub(super) fn releases_by_id(tx: &mut Tx<'_>, ids: &[ReleaseId]) -> Result<Vec<Release>> {
    let rows = releases::table
        .filter(releases::id.one_of(ids))
        .order((releases::released_at.desc(), releases::id.desc()));
    each_backend!(tx, |conn| rows.select(Release::as_select()).load(conn).map_err(error(NOUN)))
}
