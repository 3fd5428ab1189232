//! What the server is told, also when it has trouble.

use serde_json::json;

use crate::{
    server::ServerFault,
    support::{Bench, JobExt as _, job},
};

#[test]
fn half_a_piece_of_the_log_that_was_lost_is_sent_again() {
    let bench = Bench::new();
    bench.server.lock().odd_pieces.extend([ServerFault::Half, ServerFault::Status(500)]);
    let (end, log) = bench.run(job(&["seq 2000"]));
    assert_eq!(end["output"]["bytesize"], log.len());
    assert!(log.contains("\n999\n1000\n1001\n") && log.ends_with("Job succeeded\x1b[0;m\n"));
}

#[test]
fn a_log_that_was_lost_as_a_whole_is_sent_again() {
    let bench = Bench::new();
    bench.server.lock().odd_ends.push_back(ServerFault::Forget);
    let (end, log) = bench.run(job(&["echo here"]));
    assert_eq!(end["output"]["bytesize"], log.len());
    assert!(log.contains("Running with") && log.contains("\nhere\n"), "{log}");
}

#[test]
fn the_end_is_told_until_the_server_takes_it() {
    let bench = Bench::new();
    bench.server.lock().odd_ends.extend([
        ServerFault::Status(502),
        ServerFault::Status(202),
        ServerFault::Status(500),
    ]);
    let (end, _) = bench.run(job(&["true"]));
    assert_eq!(end["state"], "success");
    assert!(bench.server.lock().odd_ends.is_empty());
}

#[test]
fn the_checksum_is_that_of_the_log() {
    let (end, log) = Bench::new().run(job(&["echo x"]));
    let mut crc = flate2::Crc::new();
    crc.update(log.as_bytes());
    assert_eq!(end["output"]["checksum"], format!("crc32:{:08x}", crc.sum()));
}

#[test]
fn a_runner_says_what_it_can_do_and_which_program_it_is() {
    let bench = Bench::new();
    bench.run(job(&["true"]));
    let state = bench.server.lock();
    let request = &state.requests[0];
    assert_eq!(
        (&request["token"], &request["system_id"]),
        (&json!("glrt-0123456789abcdef"), &json!("r_test"))
    );
    assert_eq!(request["info"]["features"]["return_exit_code"], true);
    assert!(request["info"]["features"]["services"].is_null());
}

#[test]
fn the_cursor_of_the_last_answer_is_sent() {
    let bench = Bench::new();
    bench.server.wait_for(|state| (state.requests.len() > 1).then_some(()));
    let state = bench.server.lock();
    assert!(state.requests[0]["last_update"].is_null());
    assert_eq!(state.requests[1]["last_update"], "cursor");
}

#[test]
fn a_runner_that_the_server_does_not_know_stops() {
    let bench = Bench::new();
    bench.server.lock().refuses_runner = true;
    assert_eq!(bench.ended.recv().unwrap(), job_runner::fleet::StopReason::Refused);
}

#[test]
fn a_log_has_an_end() {
    let bench = Bench::with("executor = \"shell\"\noutput_limit = 4");
    let (end, log) = bench.run(job(&["seq 10000"]).after(&["true"]));
    assert_eq!(end["state"], "success");
    assert!(log.len() < 4400 && log.contains("nothing more of it is kept"), "{}", log.len());
}

#[test]
fn a_server_whose_disk_is_full_is_waited_for() {
    let bench = Bench::new();
    {
        let mut state = bench.server.lock();
        state.odd_pieces.extend([ServerFault::Status(507), ServerFault::Status(507)]);
        state.odd_uploads.extend([507, 507]);
        state.odd_ends.extend([ServerFault::Status(507), ServerFault::Status(507)]);
    }
    let artifacts =
        json!([{ "paths": ["a"], "artifact_type": "archive", "artifact_format": "zip" }]);
    let (end, log) = bench.run(job(&["echo a > a"]).set("artifacts", artifacts));
    assert_eq!(end["state"], "success", "{log}");
    assert_eq!(end["output"]["bytesize"], log.len());
    assert_eq!(bench.server.lock().uploads.len(), 1);
}

#[test]
fn a_machine_without_room_for_files_is_the_runners_trouble() {
    let bench = Bench::with("executor = \"shell\"\nbuilds_dir = \"/dev/full/builds\"");
    let (end, log) = bench.run(job(&["echo never"]));
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(log.contains("cannot make the folder /dev/full/builds"), "{log}");
}
