//! Creating pipelines with the token of a trigger or of a job.

use ci::pipeline::PipelineVariable;
use entities::ci::pipeline::FullPipelineEntity;
use forge::pipeline::{TriggerCall, run_trigger};
use kernel::{Error, access::Anyone};
use org::access::IdOrPath;
use secrets::Secret;
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, Param, ParamErrors, Raw, RawMap, params::INVALID},
    params,
    present::Created,
    routes, vendor,
};

routes! { "Pipeline trigger calls" at "/projects/{id}";
    POST "/trigger/pipeline"           => run : Anyone,
    POST "/ref/{ref}/trigger/pipeline" => run : Anyone,
}

const NO_MAP: &str = "variables needs to be a map of key-valued strings";

params! {
    pub struct TriggerPipeline {
        id: String,
        /// Branch or tag.
        r#ref: NonEmpty,
        /// Token of a trigger of the project, or of a running job (`CI_JOB_TOKEN`).
        token: String,
        /// Variables of the pipeline: `variables[KEY]=value`.
        variables: Option<Variables>,
    }
}

/// Keys and values as they were sent.
#[derive(Clone, Debug)]
pub struct Variables(RawMap);

impl Param for Variables {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Map(map) => Ok(Some(Self(map.clone()))),
            _ => Err(ParamErrors::one(INVALID)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

impl Variables {
    fn checked(&self) -> kernel::Result<Vec<PipelineVariable>> {
        let texts = self.0.iter().map(|(key, value)| match value {
            Raw::Text(text) if !text.contains('\0') => Ok(PipelineVariable::plain(key, text)),
            _ => Err(Error::bad_request().whole(NO_MAP)),
        });
        texts.collect()
    }
}

async fn run(
    app: App,
    call: Call<Anyone, TriggerPipeline>,
) -> ApiResult<Created<FullPipelineEntity>> {
    // A pipeline that calls itself by a webhook would never end.
    if call.header(vendor::EVENT) == Some(vendor::PIPELINE_EVENT) {
        return Err(Error::forbidden().into());
    }
    let params = call.params;
    let variables = params.variables.as_ref().map(Variables::checked).transpose()?;
    let asked = TriggerCall {
        project: IdOrPath::parse(&params.id),
        token: Secret::new(params.token),
        ref_name: params.r#ref.0,
        variables: variables.unwrap_or_default(),
        payload: Value::Object(payload(&call.raw)).to_string(),
    };
    let (facts, pipeline) = run_trigger(&app, asked).await?;
    let urls = app.urls.clone();
    let read = app.db.read(move |tx| FullPipelineEntity::load(tx, &urls, &facts, &pipeline));
    Ok(Created(read.await?))
}

/// Returns the parameters of the call without credentials.
fn payload(raw: &RawMap) -> Map<String, Value> {
    let secret = ["token", "private_token", "access_token", "job_token", "bearer_token"];
    let kept = raw.iter().filter(|(name, _)| !secret.contains(name));
    kept.map(|(name, value)| (name.to_owned(), json_of(value))).collect()
}

/// Files count as null.
fn json_of(raw: &Raw) -> Value {
    match raw {
        Raw::Bool(value) => json!(value),
        Raw::Number(value) => json!(value),
        Raw::Text(value) => json!(value),
        Raw::List(all) => all.iter().map(json_of).collect(),
        Raw::Map(map) => {
            let fields = map.iter().map(|(name, value)| (name.to_owned(), json_of(value)));
            Value::Object(fields.collect())
        }
        Raw::Null | Raw::Bytes(_) | Raw::File(_) | Raw::Attached(_) => Value::Null,
    }
}
