//! Security findings of single pipelines.

use std::{collections::HashMap, sync::Arc};

use forge::security::findings::{FindingFilter, PipelineFinding, of_pipeline};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::ids::PipelineId;
use security::{
    policy::ReadVulnerabilities,
    vulnerability::{ReportType, Severity, State},
};
use tokio::sync::Mutex;

use crate::{
    context::Context,
    failure::failure_of,
    pipelines::{PipelineRecord, name_of, values_of},
};

/// Pipelines whose reports one request reads, which may be large.
const PIPELINE_LIMIT: usize = 10;

type Findings = Arc<Vec<PipelineFinding>>;

/// Reports read for a request; one report is read at a time.
#[derive(Default)]
struct FindingMemo(Mutex<HashMap<PipelineId, Findings>>);

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<PipelineRecord>("Pipeline")
        .lookup(
            "securityReportFindings",
            |record: Arc<PipelineRecord>, arguments, context| async move {
                let Some(all) = findings(&record, &context).await? else { return Ok(Value::Null) };
                let wanted = FindingArguments::of(&arguments);
                let found = all.iter().filter(|one| wanted.takes(one)).map(finding);
                Ok(Connection::of_list(&arguments.page()?, found.collect()).into())
            },
        )
        .lookup(
            "securityReportFinding",
            |record: Arc<PipelineRecord>, arguments, context| async move {
                let uuid = arguments.text("uuid")?;
                let Some(all) = findings(&record, &context).await? else { return Ok(Value::Null) };
                let found = all.iter().find(|one| one.finding.uuid == uuid);
                Ok(found.map_or(Value::Null, finding))
            },
        );
}

/// What the reports of a pipeline tell; nothing for whoever may not see it.
async fn findings(record: &PipelineRecord, context: &Context) -> Result<Option<Findings>, Failure> {
    let Ok(grant) = record.home.grant::<ReadVulnerabilities>() else { return Ok(None) };
    let memo: Arc<FindingMemo> = context.loaders.of(|_| FindingMemo::default());
    let mut read = memo.0.lock().await;
    let id = record.row.id;
    if let Some(all) = read.get(&id) {
        return Ok(Some(Arc::clone(all)));
    }
    if read.len() >= PIPELINE_LIMIT {
        let text = format!("Findings of more than {PIPELINE_LIMIT} pipelines were asked for");
        return Err(Failure::Message(text));
    }
    let filter = FindingFilter { with_dismissed: true, ..FindingFilter::default() };
    let found = of_pipeline(&context.forge, &grant, Some(id), &filter).await.map_err(failure_of)?;
    let all = Arc::new(found.all);
    read.insert(id, Arc::clone(&all));
    Ok(Some(all))
}

/// Which findings are wanted; nothing leaves all, and a value that there is not is no finding's.
struct FindingArguments {
    report_types: Option<Vec<ReportType>>,
    severities: Option<Vec<Severity>>,
    scanners: Option<Vec<String>>,
    states: Option<Vec<State>>,
}

impl FindingArguments {
    fn of(arguments: &Arguments) -> Self {
        let given = |name: &str| Some(arguments.texts(name)).filter(|texts| !texts.is_empty());
        Self {
            report_types: given("reportType").map(|texts| values_of(&texts)),
            severities: given("severity").map(|texts| values_of(&texts)),
            scanners: given("scanner"),
            states: given("state").map(|texts| values_of(&texts)),
        }
    }

    fn takes(&self, one: &PipelineFinding) -> bool {
        fn fits<T: PartialEq>(wanted: Option<&Vec<T>>, value: &T) -> bool {
            wanted.is_none_or(|wanted| wanted.contains(value))
        }
        fits(self.report_types.as_ref(), &one.finding.report_type)
            && fits(self.severities.as_ref(), &one.finding.severity)
            && fits(self.scanners.as_ref(), &one.finding.scanner_id)
            && fits(self.states.as_ref(), &state(one))
    }
}

fn state(one: &PipelineFinding) -> State {
    one.known.map_or(State::Detected, |known| known.state)
}

fn finding(one: &PipelineFinding) -> Value {
    let PipelineFinding { finding, .. } = one;
    Value::fields(
        "PipelineSecurityReportFinding",
        [
            ("confidence", finding.confidence.to_string().into()),
            ("description", finding.description.clone().into()),
            ("name", finding.title.as_str().into()),
            ("reportType", name_of(finding.report_type)),
            ("severity", name_of(finding.severity)),
            ("solution", finding.solution.clone().into()),
            ("state", name_of(state(one))),
            ("title", finding.title.as_str().into()),
            ("uuid", finding.uuid.as_str().into()),
        ],
    )
}
