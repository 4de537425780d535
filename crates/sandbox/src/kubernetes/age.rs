//! How kubectl shows that something is five minutes old (`k8s.io/apimachinery/pkg/util/duration`).
//! Leaves it to the tables what is shown so.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The time since `since`, which is text in RFC 3339.
pub(crate) fn since(since: &str, now: Timestamp) -> String {
    match since.parse::<Timestamp>() {
        Ok(since) => human(now.as_second() - since.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// The first two units that matter, fewer as time goes by.
pub(crate) fn human(seconds: i64) -> String {
    let two = |size: i64, unit: char, part: i64, part_unit: char| {
        let (whole, rest) = (seconds / size, seconds % size / part);
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{part_unit}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(MINUTE, 'm', 1, 's'),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(HOUR, 'h', MINUTE, 'm'),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, 'd', HOUR, 'h'),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(YEAR, 'y', DAY, 'd'),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_in_kubectl() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (135, "2m15s"),
            (3_600, "60m"),
            (11_400, "3h10m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
            (-5, "<invalid>"),
        ] {
            assert_eq!(human(seconds), text);
        }
    }
}
