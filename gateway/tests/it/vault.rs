//! What rows hold sealed: with which key, and what becomes of it without.

use admin::{
    archive::{ArchiveExportStore as _, ArchiveHome, NewArchiveExport, UploadMethod, UploadTarget},
    bulk_import::{BulkImportStore as _, NewBulkImport, SourceAccess},
    import::{Credentials, ImportKind, ImportStore as _, NewImport, Origin},
};
use ci::{report::InheritedVariableStore as _, sealed};
use forge::vault;
use kernel::{
    Visibility::Private,
    ids::{JobId, ProjectId, UserId},
};
use org::openid::{SigningKey, SigningKeyStore as _};
use secrets::KEY_FILE;
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, job, run},
};

const CLEAR: &str = "clear text";
const JOBS: &str = "build: {script: x}\nship: {script: y, when: manual}\n";

async fn set_up(app: &TestApp) -> (Person<'_>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "jobs", JOBS).await;
    (ada, project)
}

/// All tables that hold something sealed.
fn sealed_tables() -> impl Iterator<Item = &'static str> {
    let domains = security::sealed::SEALED_TABLES.into_iter().chain(admin::sealed::SEALED_TABLES);
    let others = geo::sealed::SEALED_TABLES.into_iter().chain(org::sealed::SEALED_TABLES);
    sealed::SEALED_TABLES.into_iter().chain(domains).chain(others)
}

fn count(tx: &mut db::Tx<'_>) -> kernel::Result<i64> {
    let others = admin::sealed::count(tx)? + geo::sealed::count(tx)? + org::sealed::count(tx)?;
    Ok(sealed::count(tx)? + security::sealed::count(tx)? + others)
}

fn delete_all(tx: &mut db::Tx<'_>) -> kernel::Result<usize> {
    let others = admin::sealed::delete_all(tx)?
        + geo::sealed::delete_all(tx)?
        + org::sealed::delete_all(tx)?;
    Ok(sealed::delete_all(tx)? + security::sealed::delete_all(tx)? + others)
}

/// Has the server seal something in each of its tables.
async fn seal(ada: &Person<'_>, project: ProjectId, table: &str) {
    let at = |path: &str| format!("/projects/{project}/{path}");
    let variable = json!({ "key": "KEY", "value": CLEAR });
    match table {
        "variables" => drop(ada.post(&at("variables"), variable).await.created()),
        "triggers" => {
            drop(ada.post(&at("triggers"), json!({ "description": "d" })).await.created())
        }
        "pipeline_schedule_variables" => {
            let new = json!({ "description": "d", "ref": "main", "cron": "0 4 * * *" });
            let id = ada.post(&at("pipeline_schedules"), new).await.created()["id"].clone();
            let path = at(&format!("pipeline_schedules/{id}/variables"));
            ada.post(&path, variable).await.created();
        }
        "pipeline_variables" => {
            let new = json!({ "ref": "main", "variables": [variable] });
            ada.post(&at("pipeline"), new).await.created();
        }
        "job_variables" => {
            let id = job(ada, project, "ship").await["id"].clone();
            let body = json!({ "job_variables_attributes": [variable] });
            ada.post(&at(&format!("jobs/{id}/play")), body).await.ok();
        }
        "inherited_variables" => {
            let ship = JobId(job(ada, project, "ship").await["id"].as_i64().expect("an id"));
            let (vault, all) =
                (ada.app.state.vault.clone(), [("KEY".to_owned(), CLEAR.to_owned())]);
            ada.app.write(move |tx| tx.save_inherited_variables(&vault, ship, &all));
        }
        "alert_integrations" => {
            let new = json!({ "name": "monitor", "active": true });
            ada.post(&at("alert_management_integrations"), new).await.created();
        }
        "hooks" => {
            let new = json!({ "url": "https://a.example.com", "token": CLEAR });
            ada.post(&at("hooks"), new).await.created();
        }
        "integrations" => {
            let given = json!({ "api_key": CLEAR });
            ada.put(&at("integrations/asana"), given).await.ok();
        }
        "geo_nodes" => {
            let new =
                json!({ "name": "north", "url": "https://north.example.com", "primary": true });
            ada.app.admin().post("/geo_nodes", new).await.created();
        }
        other => seal_by_store(ada, project, other),
    }
}

/// Has the server seal something where no request does it alone.
fn seal_by_store(ada: &Person<'_>, project: ProjectId, table: &str) {
    let (vault, user) = (ada.app.state.vault.clone(), UserId(ada.app.id_of("ada")));
    match table {
        "oauth_signing_keys" => {
            let key = SigningKey::generate().expect("a key");
            ada.app.write(move |tx| tx.insert_signing_key(&key, &vault));
        }
        "imports" => seal_import(ada, project),
        "archive_exports" => {
            let new = NewArchiveExport {
                home: ArchiveHome::Project(project),
                user,
                description: None,
                upload: Some(UploadTarget { url: CLEAR.to_owned(), method: UploadMethod::Put }),
            };
            ada.app.write(move |tx| tx.request_archive(&new, &vault));
        }
        "bulk_imports" => {
            let source = SourceAccess {
                url: "https://forge.example.com".to_owned(),
                token: CLEAR.to_owned(),
            };
            let new = NewBulkImport { user, source, entities: Vec::new() };
            ada.app.write(move |tx| tx.insert_bulk_import(&new, &vault));
        }
        other => panic!("nothing is sealed in {other}"),
    }
}

fn seal_import(ada: &Person<'_>, project: ProjectId) {
    let vault = ada.app.state.vault.clone();
    let new = NewImport {
        kind: ImportKind::Url,
        user: UserId(ada.app.id_of("ada")),
        source: "https://example.com/tea.git".to_owned(),
        origin: Origin::default(),
        credentials: Some(Credentials { username: "ada".into(), password: CLEAR.into() }),
    };
    ada.app.write(move |tx| tx.insert_import(project, &new, &vault));
}

fn open(app: &TestApp) -> kernel::Result<i64> {
    let vault = vault::open(&app.state.db, app.state.data(), &app.state.key)?;
    Ok(vault.number())
}

#[actix_web::test]
async fn nothing_opens_without_the_key_of_any_table() {
    for table in sealed_tables() {
        let app = TestApp::new();
        let (ada, project) = set_up(&app).await;
        let file = app.state.data().join(KEY_FILE);
        seal(&ada, project, table).await;
        assert_eq!(app.write(count), 1, "{table}");
        open(&app).expect("the key of its start");

        std::fs::write(&file, [1; 32]).unwrap();
        assert!(open(&app).is_err(), "another key is refused for {table}");
        // As a database is that no newer version has opened before.
        app.write(|tx| db::stamp::remove(tx, "secrets.key"));
        assert!(open(&app).is_err(), "another key is refused for {table} without its number");
        std::fs::remove_file(&file).unwrap();
        let refusal = open(&app).expect_err("there is no key").to_string();
        assert!(refusal.contains("secrets.key is not there") && !file.exists(), "{refusal}");

        assert_eq!(app.write(delete_all), 1);
        open(&app).expect("another key is made");
    }
}

#[actix_web::test]
async fn one_table_of_another_key_is_enough_to_be_refused() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    seal(&ada, project, "triggers").await;
    let kept = std::fs::read(app.state.data().join(KEY_FILE)).unwrap();
    app.write(|tx| db::stamp::remove(tx, "secrets.key"));
    open(&app).expect("the key of its start");

    // Of two keys, as of two servers that once began beside one another.
    app.write(|tx| db::stamp::remove(tx, "secrets.key"));
    seal(&ada, project, "variables").await;
    let row = format!("1:{}", "A".repeat(80));
    app.write(move |tx| {
        use db::schema::variables;
        use diesel::prelude::*;
        let update = diesel::update(variables::table).set(variables::sealed.eq(&row));
        db::each_backend!(tx, |conn| update.execute(conn).map_err(db::error("Variable")))
    });
    assert!(open(&app).is_err());
    assert_eq!(std::fs::read(app.state.data().join(KEY_FILE)).unwrap(), kept);
}

#[actix_web::test]
async fn a_database_of_another_folder_keeps_the_number_of_its_key() {
    let app = TestApp::new();
    app.write(|tx| db::stamp::keep(tx, "data folder", 7));
    app.write(|tx| db::stamp::remove(tx, "secrets.key"));

    open(&app).expect("nothing is sealed");

    assert_eq!(app.write(|tx| db::stamp::of(tx, "secrets.key")), None);
}

#[actix_web::test]
async fn everything_of_a_lost_key_is_deleted() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    for table in sealed_tables() {
        seal(&ada, project, table).await;
    }

    let (count, gone) = (app.write(count), app.write(delete_all));

    assert_eq!((count, gone), (14, 14));
    let at = |path: &str| format!("/projects/{project}/{path}");
    assert_eq!(ada.get(&at("triggers")).await.ok(), json!([]));
    let schedule = ada.get(&at("pipeline_schedules")).await.ok()[0]["id"].clone();
    let shown = ada.get(&at(&format!("pipeline_schedules/{schedule}"))).await.ok();
    assert_eq!(shown["variables"], json!([]));
}

#[actix_web::test]
async fn a_schedule_variable_that_nobody_can_read_is_removed() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    seal(&ada, project, "pipeline_schedule_variables").await;
    app.write(|tx| {
        use db::schema::pipeline_schedule_variables::dsl::{pipeline_schedule_variables, sealed};
        use diesel::prelude::*;
        let update = diesel::update(pipeline_schedule_variables).set(sealed.eq("1:AAAA"));
        db::each_backend!(tx, |conn| update.execute(conn).map_err(db::error("Variable")))
    });
    let all = format!("/projects/{project}/pipeline_schedules");
    let one = format!("{all}/{}/variables/KEY", ada.get(&all).await.ok()[0]["id"]);

    assert_eq!(ada.delete(&one).await.with(202)["value"], "");
    ada.get(&one).await.with(404);
}

/// What the rows of variables of pipelines and jobs hold: clear and sealed.
fn stored(app: &TestApp) -> Vec<(String, Option<String>)> {
    use db::schema::{job_variables, pipeline_variables};
    use diesel::prelude::*;
    app.write(|tx| {
        let of_pipelines = pipeline_variables::table
            .select((pipeline_variables::clear, pipeline_variables::sealed));
        let of_jobs = job_variables::table.select((job_variables::clear, job_variables::sealed));
        let mut all: Vec<(String, Option<String>)> =
            db::each_backend!(tx, |conn| of_pipelines.load(conn).map_err(db::error("Row")))?;
        let jobs: Vec<_> =
            db::each_backend!(tx, |conn| of_jobs.load(conn).map_err(db::error("Row")))?;
        all.extend(jobs);
        Ok(all)
    })
}

/// Writes what is sealed back in clear, as older versions stored it.
fn store_in_clear(app: &TestApp) {
    use db::schema::{job_variables as jobs, pipeline_variables as pipelines};
    use diesel::prelude::*;
    let none: Option<String> = None;
    app.write(move |tx| {
        let of_pipelines = diesel::update(pipelines::table)
            .set((pipelines::clear.eq(CLEAR), pipelines::sealed.eq(&none)));
        db::each_backend!(tx, |conn| of_pipelines.execute(conn).map_err(db::error("Row")))?;
        let of_jobs =
            diesel::update(jobs::table).set((jobs::clear.eq(CLEAR), jobs::sealed.eq(&none)));
        db::each_backend!(tx, |conn| of_jobs.execute(conn).map_err(db::error("Row")))
    });
}

#[actix_web::test]
async fn variables_of_pipelines_and_jobs_are_sealed_also_those_of_before() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    seal(&ada, project, "pipeline_variables").await;
    seal(&ada, project, "job_variables").await;
    let is_sealed = |(clear, sealed): &(String, Option<String>)| {
        clear.is_empty() && sealed.as_ref().is_some_and(|text| text.starts_with("1:"))
    };
    assert!(stored(&app).len() == 2 && stored(&app).iter().all(is_sealed));
    let newest = ada.get(&format!("/projects/{project}/pipelines")).await.ok()[0]["id"].clone();
    let path = format!("/projects/{project}/pipelines/{newest}/variables");
    let shown = json!([{ "key": "KEY", "value": CLEAR, "variable_type": "env_var", "raw": false }]);
    assert_eq!(values(&ada.get(&path).await.ok()), values(&shown));

    store_in_clear(&app);
    assert_eq!(values(&ada.get(&path).await.ok()), values(&shown), "it is read until it is sealed");
    vault::seal_clear(&app.state).await.unwrap();

    assert!(stored(&app).len() == 2 && stored(&app).iter().all(is_sealed));
    assert_eq!(values(&ada.get(&path).await.ok()), values(&shown));
    let ship = run(&app, &ada, project, "ship").await.id;
    let kept = app.state.vault.clone();
    let of_job = app.write(move |tx| ci::job::JobVariableStore::job_variables(tx, &kept, ship));
    assert_eq!(of_job, [("KEY".to_owned(), CLEAR.to_owned())]);
}

fn values(list: &Value) -> Vec<(&Value, &Value)> {
    list.as_array().expect("a list").iter().map(|one| (&one["key"], &one["value"])).collect()
}
