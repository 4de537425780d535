//! A thousand records in bad weather: more than a pass holds at once, and no more than a development build bears.
//! `kflare sandbox load` runs what is promised, ten thousand, in a process of its own and looks at its memory, too.

use cli::simulation::{LoadOrder, run_load};

#[test]
fn thousands_of_records_come_through_every_weather() {
    // Beside other tests the memory of the process says nothing.
    let order = LoadOrder { records: 1_000, is_alone: false };
    let run = run_load(order, &|_| ()).unwrap();
    assert_eq!(run.broken, [""; 0], "{run:?}");
    assert!(run.calms.iter().all(|calm| calm.after.is_some()), "{:?}", run.calms);
    assert_eq!(run.calms.len(), 4);
}
