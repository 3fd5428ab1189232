//! Releases in the database.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::releases};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, ReleaseId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{NewRelease, Release, ReleaseKey, ReleaseOrder};

const NOUN: &str = "Release";

pub trait ReleaseStore {
    fn releases(
        &mut self,
        project: ProjectId,
        order: ReleaseOrder,
        page: PageRequest,
    ) -> Result<Page<Release>>;
    fn find_release(&mut self, project: ProjectId, tag: &str) -> Result<Option<Release>>;
    /// Those of some tags, in any order.
    fn releases_of_tags(&mut self, project: ProjectId, tags: &[String]) -> Result<Vec<Release>>;
    /// Writes releases down, but for those of tags that have one; how many these were.
    fn insert_releases(&mut self, project: ProjectId, new: &[NewRelease]) -> Result<usize>;
    fn save_release(&mut self, row: &Release) -> Result<()>;
    fn delete_release(&mut self, id: ReleaseId) -> Result<()>;
}

impl ReleaseStore for Tx<'_> {
    fn releases(
        &mut self,
        project: ProjectId,
        order: ReleaseOrder,
        page: PageRequest,
    ) -> Result<Page<Release>> {
        each_backend!(self, |conn| {
            let all = releases::table.filter(releases::project_id.eq(project)).into_boxed();
            let all = match (order.key, order.ascending) {
                (ReleaseKey::Released, true) => all.order((releases::released_at, releases::id)),
                (ReleaseKey::Released, false) => {
                    all.order((releases::released_at.desc(), releases::id.desc()))
                }
                (ReleaseKey::Created, true) => all.order((releases::created_at, releases::id)),
                (ReleaseKey::Created, false) => {
                    all.order((releases::created_at.desc(), releases::id.desc()))
                }
            };
            let items = all
                .select(Release::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = releases::table.filter(releases::project_id.eq(project));
            let counted = CountOf(counted.select(releases::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
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

    fn delete_release(&mut self, id: ReleaseId) -> Result<()> {
        let gone = diesel::delete(releases::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
