//! Documents by the thousand: each makes a plan or a refusal, and none a panic. `examples/fuzz.rs` runs as many as one likes.

use std::path::Path;

use forgeway_ci::config::{
    compile, dry_run,
    input::PipelineInput,
    lint,
    variables::{OuterVariables, ScopedVariable, Variable},
};

use crate::{files::Files, generator::Generator};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/config");
const DOCUMENTS: u64 = 2000;

#[test]
fn no_document_is_too_odd_to_be_judged() {
    let generator = Generator::of(Path::new(FOLDER)).unwrap();
    let known = OuterVariables {
        beneath: vec![Variable::public("A", "x"), Variable::public("B", "$A")],
        above: vec![vec![ScopedVariable::everywhere(Variable::secret("C", "/a+/"))]],
    };
    let tree = Files::of(&[("a.yml", "a: {script: x}"), ("b.yml", "b: {extends: a}")]);
    let given =
        PipelineInput { tree: &tree, ..PipelineInput::push("main", "group/project", &known) };

    for seed in 0..DOCUMENTS {
        let text = generator.document(seed);
        let plan = compile(&text, &given).is_ok();
        let tried = dry_run(&text, &given).unwrap().is_valid();
        let sound = lint(&text, &given).unwrap().is_valid();
        assert_eq!(plan, tried, "seed {seed}\n{text}");
        assert!(sound || !plan, "seed {seed}\n{text}");
    }
}

#[test]
fn the_same_seed_makes_the_same_document() {
    let generator = Generator::of(Path::new(FOLDER)).unwrap();

    assert_eq!(generator.document(7), generator.document(7));
    assert_ne!(generator.document(7), generator.document(8));
}
