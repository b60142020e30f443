//! Rows, for the eye: how far this crate is from rdma-core, and what grows with what.

use std::path::Path;

use peers::{Axis, Line, Peer, Quantity};
use plotters::{
    chart::{ChartBuilder, LabelAreaPosition, SeriesLabelPosition},
    coord::{Shift, combinators::IntoLogRange},
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea},
    element::{Circle, EmptyElement, PathElement, Rectangle, Text},
    prelude::SVGBackend,
    series::{LineSeries, PointSeries},
    style::{BLACK, Color, IntoFont, IntoTextStyle, RGBColor, ShapeStyle, WHITE},
};

use super::rows::Row;
use crate::error::{Error, Result};

const WIDTH: u32 = 1000;
const BARS_HEIGHT: u32 = 560;
const GROWTH_HEIGHT: u32 = 340;

/// Colours that those who see few of them tell apart.
fn colour(peer: Peer) -> RGBColor {
    match peer {
        Peer::Ours => RGBColor(0, 114, 178),
        Peer::RdmaCore | Peer::RdmaCoreStatic => RGBColor(213, 94, 0),
        Peer::Floor => RGBColor(120, 120, 120),
    }
}

fn name(peer: Peer) -> &'static str {
    match peer {
        Peer::Ours => "uverbs",
        Peer::RdmaCore => "rdma-core",
        Peer::RdmaCoreStatic => "rdma-core, static",
        Peer::Floor => "floor",
    }
}

/// What the bars fill.
const PALE: RGBColor = RGBColor(235, 235, 235);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Writes the chart.
pub(super) fn write(file: &Path, rows: &[Row], lines: &[Line]) -> Result<()> {
    draw(file, rows, lines)
        .map_err(|error| Error::Bench(format!("the chart {} cannot be drawn: {error}", file.display())))
}

fn draw(file: &Path, rows: &[Row], lines: &[Line]) -> Drawn {
    let area = SVGBackend::new(file, (WIDTH, BARS_HEIGHT + GROWTH_HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    let (bars, growth) = area.split_vertically(BARS_HEIGHT);
    draw_bars(&bars, rows)?;
    let parts = growth.split_evenly((1, 3));
    let growths = [
        (Axis::Handles, 10.0, Quantity::Create, "create, by anchors alive"),
        (Axis::Threads, 2.0, Quantity::PairTime, "create+destroy, by threads"),
        (Axis::Cards, 2.0, Quantity::List, "list devices, by cards"),
    ];
    for (part, (axis, base, quantity, title)) in parts.iter().zip(growths) {
        let series = [Peer::Ours, Peer::RdmaCore, Peer::Floor]
            .map(|peer| (peer, points(lines, axis, quantity, peer)))
            .into_iter()
            .filter(|(_, points)| !points.is_empty())
            .collect();
        draw_growth(part, title, base, series)?;
    }
    area.present()
}

/// A bar for each row: this crate's value as a share of rdma-core's, and a stroke where the gate is.
fn draw_bars(area: &Area, rows: &[Row]) -> Drawn {
    let shares: Vec<(&str, f64, Option<f64>)> = rows
        .iter()
        .filter_map(|row| {
            let (ours, other) = row.ours.zip(row.rdma_core).filter(|(_, other)| *other > 0.0)?;
            Some((row.name, ours / other, row.gate.map(|gate| gate / other).filter(|gate| *gate <= 1.0)))
        })
        .collect();
    // From 0 to 1 are the bars; the names are left of them, the numbers right.
    let (left, right) = (-1.25, 1.12);
    let label = ("sans-serif", 13).into_font();
    let mut chart = ChartBuilder::on(area)
        .caption("uverbs as a share of rdma-core; a stroke is the gate", ("sans-serif", 18))
        .margin(8)
        .build_cartesian_2d(left..right, 0.0..f64::from(u32::try_from(shares.len()).unwrap_or(u32::MAX)))?;
    let rows_from_below = (0_u32..).map(f64::from).zip(shares.into_iter().rev());
    for (row, (name, share, gate)) in rows_from_below {
        let (below, above) = (row + 0.2, row + 0.8);
        let bar = |to: f64, colour: RGBColor| Rectangle::new([(0.0, below), (to, above)], colour.filled());
        let stroke = |at: f64| PathElement::new([(at, row + 0.1), (at, row + 0.9)], BLACK.stroke_width(2));
        chart.draw_series([bar(1.0, PALE), bar(share.min(1.0), colour(Peer::Ours))])?;
        chart.draw_series(gate.map(stroke))?;
        chart.draw_series([
            Text::new(name.to_owned(), (left, above), label.clone()),
            Text::new(format!("{:.1} %", share * 100.0), (1.02, above), label.clone()),
        ])?;
    }
    Ok(())
}

/// The cost of one operation of each peer, where there is so much of something: each stroke below is `base` times as much
/// as the one before.
fn draw_growth(area: &Area, title: &str, base: f64, series: Vec<(Peer, Vec<(f64, f64)>)>) -> Drawn {
    let all = || series.iter().flat_map(|(_, points)| points);
    let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(1.0, f64::max);
    let (right, top) = (most(|point| point.0), most(|point| point.1) * 1.2);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 15))
        .margin(8)
        .set_label_area_size(LabelAreaPosition::Left, 60)
        .set_label_area_size(LabelAreaPosition::Bottom, 30)
        .build_cartesian_2d((1.0..right * 1.1).log_scale().base(base), 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(5)
        .y_labels(6)
        .y_desc("instructions")
        .x_label_formatter(&|count| format!("{count:.0}"))
        .y_label_formatter(&|cost| format!("{cost:.0}"))
        .draw()?;
    for (peer, points) in series {
        let style = ShapeStyle::from(&colour(peer)).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))?
            .label(name(peer))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style));
        chart.draw_series(PointSeries::of_element(points, 3, style.filled(), &|at, size, style| {
            EmptyElement::at(at) + Circle::new((0, 0), size, style)
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 12).into_text_style(area))
        .draw()
}

fn points(lines: &[Line], of: Axis, what: Quantity, whose: Peer) -> Vec<(f64, f64)> {
    lines
        .iter()
        .filter_map(|line| match *line {
            Line::Point { axis, count, quantity, peer, value }
                if (axis, quantity, peer) == (of, what, whose) =>
            {
                Some((f64::from(count), value))
            }
            _ => None,
        })
        .collect()
}
