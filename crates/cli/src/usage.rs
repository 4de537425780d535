//! What a process has used: processor time and memory, as Linux tells them. Elsewhere nothing is told.

use std::fs;
use std::time::Duration;

/// How long a tick of `/proc/PID/stat` is: a hundred a second on every Linux that Rust has a first tier for.
const TICK: Duration = Duration::from_millis(10);

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time of processors.
    pub cpu: Duration,
    /// The most memory that it held, in KiB, since it began or [`forget_peak`].
    pub peak: u64,
    /// What it holds now, in KiB.
    pub now: u64,
}

/// None where the system does not tell, or no such process runs.
pub fn of(id: u32) -> Option<Usage> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    read(&status, &stat)
}

fn read(status: &str, stat: &str) -> Option<Usage> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    // Behind the program's name, which may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(Usage { cpu: TICK * (user + system), peak: kib("VmHWM:")?, now: kib("VmRSS:")? })
}

/// The peak is counted anew from what a process holds now. Where that cannot be, it stays the peak since the start.
pub fn forget_peak(id: u32) {
    let _ = fs::write(format!("/proc/{id}/clear_refs"), "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_are_read_behind_any_name() {
        let status = "Name:\tkflare\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n";
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 4 0 100 200 300";
        let usage = Usage { cpu: Duration::from_secs(3), peak: 20_480, now: 10_240 };
        assert_eq!(read(status, stat), Some(usage));
        // Of a process that has ended and that nobody has waited for.
        assert_eq!(read("Name:\tkflare\nState:\tZ (zombie)\n", stat), None);
    }
}
