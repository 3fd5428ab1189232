//! Metric images in the database.

use db::{
    CountOf, Tx, each_backend, error,
    schema::{alert_metric_images as images, alerts},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{AlertId, MetricImageId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::MetricImage;

const NOUN: &str = "Metric image";

pub trait MetricImageStore {
    /// A page of those of an alert, oldest first.
    fn metric_images(&mut self, alert: AlertId, page: PageRequest) -> Result<Page<MetricImage>>;
    fn find_metric_image(
        &mut self,
        alert: AlertId,
        id: MetricImageId,
    ) -> Result<Option<MetricImage>>;
    /// An image by its id alone, with the project that it belongs to.
    fn find_metric_image_of_any(
        &mut self,
        id: MetricImageId,
    ) -> Result<Option<(ProjectId, MetricImage)>>;
    fn insert_metric_image(&mut self, new: &MetricImage) -> Result<MetricImage>;
    /// Keeps what is said of an image.
    fn keep_metric_image(&mut self, image: &MetricImage) -> Result<()>;
    /// False where somebody else was faster.
    fn delete_metric_image(&mut self, id: MetricImageId) -> Result<bool>;
}

impl MetricImageStore for Tx<'_> {
    fn metric_images(&mut self, alert: AlertId, page: PageRequest) -> Result<Page<MetricImage>> {
        let chosen = || images::table.filter(images::alert_id.eq(alert));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(images::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(MetricImage::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(images::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn find_metric_image(
        &mut self,
        alert: AlertId,
        id: MetricImageId,
    ) -> Result<Option<MetricImage>> {
        let row = images::table.find(id).filter(images::alert_id.eq(alert));
        each_backend!(self, |conn| row
            .select(MetricImage::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn find_metric_image_of_any(
        &mut self,
        id: MetricImageId,
    ) -> Result<Option<(ProjectId, MetricImage)>> {
        let row = images::table.inner_join(alerts::table).filter(images::id.eq(id));
        each_backend!(self, |conn| row
            .select((alerts::project_id, MetricImage::as_select()))
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_metric_image(&mut self, new: &MetricImage) -> Result<MetricImage> {
        let row = (
            images::alert_id.eq(new.alert_id),
            images::secret.eq(&new.secret),
            images::filename.eq(&new.filename),
            images::bytes.eq(new.bytes),
            images::url.eq(&new.url),
            images::url_text.eq(&new.url_text),
            images::created_at.eq(new.created_at),
            images::updated_at.eq(new.updated_at),
        );
        let insert = diesel::insert_into(images::table).values(row);
        each_backend!(self, |conn| insert
            .returning(MetricImage::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn keep_metric_image(&mut self, image: &MetricImage) -> Result<()> {
        let values = (
            images::url.eq(&image.url),
            images::url_text.eq(&image.url_text),
            images::updated_at.eq(image.updated_at),
        );
        let row = diesel::update(images::table.find(image.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_metric_image(&mut self, id: MetricImageId) -> Result<bool> {
        let row = diesel::delete(images::table.find(id));
        Ok(each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))? > 0)
    }
}
