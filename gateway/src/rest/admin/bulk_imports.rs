//! Groups and projects that are fetched from another installation.

use admin::bulk_import::{
    BulkImportEntity, BulkImportStore as _, BulkStatus, EntityKind, NewEntity, SourceAccess,
};
use db::Tx;
use entities::admin::bulk_import::{BulkFailureJson, BulkImportEntityJson, BulkImportJson};
use forge::archive::transfer;
use kernel::{
    Error, Grant, Result,
    access::SignedIn,
    ids::{BulkImportEntityId, BulkImportId},
    page::{Page, PageRequest},
};
use serde_json::{Value, json};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, Param, ParamErrors, Raw, Sort},
    param_enums, params,
    present::{Created, Json, PagedList},
    rate_limit::ArchiveCall,
    routes,
};

routes! { "Bulk imports" at "/bulk_imports";
    POST ""                                       => start         : SignedIn,
    GET  ""                                       => list          : SignedIn,
    GET  "/entities"                              => list_entities : SignedIn,
    GET  "/{import_id}"                           => show          : SignedIn,
    GET  "/{import_id}/entities"                  => entities_of   : SignedIn,
    GET  "/{import_id}/entities/{entity_id}"      => show_entity   : SignedIn,
    GET  "/{import_id}/entities/{entity_id}/failures" => failures  : SignedIn,
    POST "/{import_id}/cancel"                    => cancel        : SignedIn,
}

param_enums! { BulkStatus, EntityKind }

params! {
    /// Where the groups and projects are.
    pub struct SourceParams {
        /// URL of the other installation.
        url: NonEmpty,
        /// Personal access token of the other installation, with the scope `api`. Stored encrypted until the import ends.
        access_token: NonEmpty,
    }
}

/// A path as it may stand in an address, `tools/small`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePath(String);

/// As [`SourcePath`]; empty for the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespacePath(String);

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slug(String);

const NO_SOURCE: &str = "must be a relative path and not include protocol, sub-domain, or domain information. \
    E.g. 'source/full/path' not 'https://example.com/source/full/path'";
const NO_NAMESPACE: &str = "cannot start with a dash or forward slash, or end with a period or forward slash. \
    It can only contain alphanumeric characters, periods, underscores, forward slashes and dashes. \
    E.g. 'destination_namespace' or 'destination/namespace'";
const NO_SLUG: &str = "cannot start with a dash or forward slash, or end with a period or forward slash. \
    It can only contain alphanumeric characters, periods, underscores, and dashes. \
    E.g. 'destination_namespace' not 'destination/namespace'";

fn is_slug(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !text.is_empty() && text.bytes().all(is_known) && !text.starts_with('-') && !text.ends_with('.')
}

fn is_path(text: &str) -> bool {
    text.split('/').all(is_slug)
}

impl Param for SourcePath {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            Some(text) if is_path(&text) => Ok(Some(Self(text))),
            _ => Err(ParamErrors::one(NO_SOURCE)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}

impl Param for NamespacePath {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match String::read(raw)?.unwrap_or_default() {
            text if text.trim().is_empty() => Ok(Some(Self(String::new()))),
            text if is_path(&text) => Ok(Some(Self(text))),
            _ => Err(ParamErrors::one(NO_NAMESPACE)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl Param for Slug {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            Some(text) if is_slug(&text) => Ok(Some(Self(text))),
            Some(_) => Err(ParamErrors::one(NO_SLUG)),
            None => Ok(None),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

params! {
    /// A group or project that is to be fetched.
    pub struct EntityParams {
        source_type: EntityKind,
        /// Path of the group or project at the source.
        source_full_path: SourcePath,
        /// Path of the group that it is put into; empty for groups at the top.
        destination_namespace: NamespacePath,
        /// Path here. Default: the last part of the path at the source.
        destination_slug: Option<Slug>,
        /// Same as `destination_slug`.
        destination_name: Option<Slug>,
        /// Whether projects of a group are fetched with it.
        migrate_projects: bool = true,
    }
}

params! {
    pub struct StartImport {
        configuration: SourceParams,
        /// At most 100.
        entities: Vec<EntityParams>,
    }
}

/// Entities of one request.
const MOST_ENTITIES: usize = 100;

impl From<EntityParams> for NewEntity {
    fn from(params: EntityParams) -> Self {
        let path = params.source_full_path.0;
        let last = || path.rsplit('/').next().unwrap_or_default().to_owned();
        let slug = params.destination_slug.or(params.destination_name);
        Self {
            kind: params.source_type,
            destination_slug: slug.map_or_else(last, |slug| slug.0),
            source_full_path: path,
            destination_namespace: params.destination_namespace.0,
            migrate_projects: params.migrate_projects,
        }
    }
}

async fn start(app: App, call: Call<SignedIn, StartImport>) -> ApiResult<Created<BulkImportJson>> {
    app.rates.check_project_archive(ArchiveCall::GroupImport, call.grant.user()?)?;
    let given = call.params;
    if given.entities.is_empty() || given.entities.len() > MOST_ENTITIES {
        return Err(Error::bad_request().parameters("entities does not have a valid value").into());
    }
    let source =
        SourceAccess { url: given.configuration.url.0, token: given.configuration.access_token.0 };
    let entities = given.entities.into_iter().map(Into::into).collect();
    let made = transfer::start(&app, &call.grant, source, entities).await?;
    Ok(Created(BulkImportJson::new(&made, false)))
}

params! {
    struct ListImports: paged {
        status: Option<BulkStatus>,
        sort: Sort = Sort::Desc,
    }
}

async fn list(app: App, call: Call<SignedIn, ListImports>) -> ApiResult<PagedList<BulkImportJson>> {
    transfer::ensure_enabled(&app)?;
    let (user, status, page) = (call.grant.user()?, call.params.status, call.page);
    let newest_first = matches!(call.params.sort, Sort::Desc);
    let read = app.db.read(move |tx| {
        let found = tx.bulk_imports(user, status, newest_first, page)?;
        let ids: Vec<BulkImportId> = found.items.iter().map(|one| one.id).collect();
        let failed = tx.failed_bulk_imports(&ids)?;
        Ok(found.map(|one| BulkImportJson::new(&one, failed.contains(&one.id))))
    });
    Ok(PagedList(read.await?))
}

params! {
    struct OneImport {
        /// ID of the bulk import.
        import_id: BulkImportId,
    }
}

async fn show(app: App, call: Call<SignedIn, OneImport>) -> ApiResult<Json<BulkImportJson>> {
    transfer::ensure_enabled(&app)?;
    let (user, id) = (call.grant.user()?, call.params.import_id);
    let read = app.db.read(move |tx| {
        let found = tx.find_bulk_import(id)?.filter(|found| found.user_id == user);
        let found = found.ok_or_else(Error::missing)?;
        let failed = tx.failed_bulk_imports(&[id])?;
        Ok(BulkImportJson::new(&found, failed.contains(&id)))
    });
    Ok(Json(read.await?))
}

params! {
    struct ListEntities: paged {
        status: Option<BulkStatus>,
    }
}

params! {
    struct EntitiesOfImport: paged {
        /// ID of the bulk import.
        import_id: BulkImportId,
        status: Option<BulkStatus>,
    }
}

fn entities(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    import: Option<BulkImportId>,
    status: Option<BulkStatus>,
    page: PageRequest,
) -> Result<Page<BulkImportEntityJson>> {
    let found = tx.bulk_import_entities(grant.user()?, import, status, page)?;
    let ids: Vec<BulkImportEntityId> = found.items.iter().map(|one| one.id).collect();
    let failures = tx.failures_of_entities(&ids)?;
    Ok(found.map(|one| {
        let own = failures.get(&one.id).map_or(&[][..], Vec::as_slice);
        BulkImportEntityJson::new(&one, own)
    }))
}

async fn list_entities(
    app: App,
    call: Call<SignedIn, ListEntities>,
) -> ApiResult<PagedList<BulkImportEntityJson>> {
    transfer::ensure_enabled(&app)?;
    let (grant, status, page) = (call.grant, call.params.status, call.page);
    let read = app.db.read(move |tx| entities(tx, &grant, None, status, page));
    Ok(PagedList(read.await?))
}

async fn entities_of(
    app: App,
    call: Call<SignedIn, EntitiesOfImport>,
) -> ApiResult<PagedList<BulkImportEntityJson>> {
    transfer::ensure_enabled(&app)?;
    let (grant, page) = (call.grant, call.page);
    let (id, status) = (call.params.import_id, call.params.status);
    let read = app.db.read(move |tx| {
        let user = grant.user()?;
        let own = tx.find_bulk_import(id)?.filter(|found| found.user_id == user);
        own.ok_or_else(Error::missing)?;
        entities(tx, &grant, Some(id), status, page)
    });
    Ok(PagedList(read.await?))
}

params! {
    struct OneEntity {
        /// ID of the bulk import.
        import_id: BulkImportId,
        /// ID of the group or project in it.
        entity_id: BulkImportEntityId,
    }
}

fn own_entity(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    asked: &OneEntity,
) -> Result<BulkImportEntity> {
    let user = grant.user()?;
    let own = tx.find_bulk_import(asked.import_id)?.filter(|found| found.user_id == user);
    let own = own.ok_or_else(Error::missing)?;
    let found = tx.find_entity(asked.entity_id)?;
    found.filter(|found| found.bulk_import_id == own.id).ok_or_else(Error::missing)
}

async fn show_entity(
    app: App,
    call: Call<SignedIn, OneEntity>,
) -> ApiResult<Json<BulkImportEntityJson>> {
    transfer::ensure_enabled(&app)?;
    let (grant, asked) = (call.grant, call.params);
    let read = app.db.read(move |tx| {
        let found = own_entity(tx, &grant, &asked)?;
        let failures = tx.entity_failures(found.id)?;
        Ok(BulkImportEntityJson::new(&found, &failures))
    });
    Ok(Json(read.await?))
}

async fn failures(
    app: App,
    call: Call<SignedIn, OneEntity>,
) -> ApiResult<Json<Vec<BulkFailureJson>>> {
    transfer::ensure_enabled(&app)?;
    let (grant, asked) = (call.grant, call.params);
    let read = app.db.read(move |tx| {
        let found = own_entity(tx, &grant, &asked)?;
        let failures = tx.entity_failures(found.id)?;
        Ok(failures.iter().map(|one| BulkFailureJson::new(&found, one)).collect())
    });
    Ok(Json(read.await?))
}

async fn cancel(app: App, call: Call<SignedIn, OneImport>) -> ApiResult<Json<BulkImportJson>> {
    transfer::ensure_enabled(&app)?;
    let id = call.params.import_id;
    let ended = transfer::cancel(&app, &call.grant, id).await?;
    let failed = app.db.read(move |tx| tx.failed_bulk_imports(&[id])).await?;
    Ok(Json(BulkImportJson::new(&ended, failed.contains(&id))))
}
