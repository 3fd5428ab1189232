//! Links of releases in the database.

use std::collections::HashMap;

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::release_links};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ReleaseId, ReleaseLinkId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{NewLink, ReleaseLink};

const NOUN: &str = "Release link";
/// Links that one statement writes.
const AT_ONCE: usize = 500;

pub trait ReleaseLinkStore {
    /// A page of links, the newest first.
    fn release_links(&mut self, release: ReleaseId, page: PageRequest)
    -> Result<Page<ReleaseLink>>;
    /// All links of some releases, the newest first.
    fn links_of_releases(
        &mut self,
        releases: &[ReleaseId],
    ) -> Result<HashMap<ReleaseId, Vec<ReleaseLink>>>;
    fn find_release_link(
        &mut self,
        release: ReleaseId,
        id: ReleaseLinkId,
    ) -> Result<Option<ReleaseLink>>;
    /// A link of whatever release.
    fn release_link_by_id(&mut self, id: ReleaseLinkId) -> Result<Option<ReleaseLink>>;
    fn release_link_at(&mut self, release: ReleaseId, path: &str) -> Result<Option<ReleaseLink>>;
    /// Writes links down, but for those whose name, URL or path the release has.
    fn insert_release_links(&mut self, new: &[(ReleaseId, NewLink)]) -> Result<()>;
    fn save_release_link(&mut self, id: ReleaseLinkId, link: &NewLink) -> Result<ReleaseLink>;
    fn delete_release_link(&mut self, id: ReleaseLinkId) -> Result<()>;
}

impl ReleaseLinkStore for Tx<'_> {
    fn release_links(
        &mut self,
        release: ReleaseId,
        page: PageRequest,
    ) -> Result<Page<ReleaseLink>> {
        let of_release = || release_links::table.filter(release_links::release_id.eq(release));
        each_backend!(self, |conn| {
            let items = of_release()
                .order((release_links::created_at.desc(), release_links::id.desc()))
                .select(ReleaseLink::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(of_release().select(release_links::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn links_of_releases(
        &mut self,
        releases: &[ReleaseId],
    ) -> Result<HashMap<ReleaseId, Vec<ReleaseLink>>> {
        let mut found: HashMap<ReleaseId, Vec<ReleaseLink>> = HashMap::new();
        if releases.is_empty() {
            return Ok(found);
        }
        let rows = release_links::table
            .filter(release_links::release_id.one_of(releases))
            .order((release_links::created_at.desc(), release_links::id.desc()));
        let rows: Vec<ReleaseLink> = each_backend!(self, |conn| rows
            .select(ReleaseLink::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        for row in rows {
            found.entry(row.release_id).or_default().push(row);
        }
        Ok(found)
    }

    fn find_release_link(
        &mut self,
        release: ReleaseId,
        id: ReleaseLinkId,
    ) -> Result<Option<ReleaseLink>> {
        Ok(self.release_link_by_id(id)?.filter(|link| link.release_id == release))
    }

    fn release_link_by_id(&mut self, id: ReleaseLinkId) -> Result<Option<ReleaseLink>> {
        let row = release_links::table.find(id);
        each_backend!(self, |conn| row
            .select(ReleaseLink::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn release_link_at(&mut self, release: ReleaseId, path: &str) -> Result<Option<ReleaseLink>> {
        let row = release_links::table
            .filter(release_links::release_id.eq(release).and(release_links::filepath.eq(path)));
        each_backend!(self, |conn| row
            .select(ReleaseLink::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_release_links(&mut self, new: &[(ReleaseId, NewLink)]) -> Result<()> {
        let now = self.now;
        let row = |(release, link): &(ReleaseId, NewLink)| {
            (
                release_links::release_id.eq(*release),
                release_links::name.eq(link.name.clone()),
                release_links::url.eq(link.url.clone()),
                release_links::filepath.eq(link.filepath.clone()),
                release_links::link_type.eq(link.link_type),
                release_links::created_at.eq(now),
                release_links::updated_at.eq(now),
            )
        };
        for some in new.chunks(AT_ONCE) {
            let rows: Vec<_> = some.iter().map(row).collect();
            each_backend!(self, |conn| diesel::insert_into(release_links::table)
                .values(rows)
                .on_conflict_do_nothing()
                .execute(conn)
                .map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn save_release_link(&mut self, id: ReleaseLinkId, link: &NewLink) -> Result<ReleaseLink> {
        let values = (
            release_links::name.eq(&link.name),
            release_links::url.eq(&link.url),
            release_links::filepath.eq(&link.filepath),
            release_links::link_type.eq(link.link_type),
            release_links::updated_at.eq(self.now),
        );
        let update = diesel::update(release_links::table.find(id)).set(values);
        each_backend!(self, |conn| update
            .returning(ReleaseLink::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn delete_release_link(&mut self, id: ReleaseLinkId) -> Result<()> {
        let gone = diesel::delete(release_links::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
