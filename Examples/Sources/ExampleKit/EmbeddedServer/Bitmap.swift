import Foundation

/// Draws pictures as bitmaps, which every viewer opens.
package enum Bitmap {
    package typealias Color = (red: Int, green: Int, blue: Int)

    /// Returns a picture whose pixels have the colors that `color` returns. Row 0 is the bottom row.
    package static func bytes(width: Int, height: Int, color: (_ column: Int, _ row: Int) -> Color) -> Data {
        let stride = (width * 3 + 3) / 4 * 4
        var bytes = Data()
        func add(_ number: Int, bytes count: Int) {
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
        }
        bytes += Data("BM".utf8)
        add(54 + stride * height, bytes: 4)  // the size of the file
        add(0, bytes: 4)
        add(54, bytes: 4)  // the offset of the pixels
        add(40, bytes: 4)  // the size of this header
        add(width, bytes: 4)
        add(height, bytes: 4)
        add(1, bytes: 2)
        add(24, bytes: 2)  // bits per pixel
        for size in [0, stride * height, 2_835, 2_835, 0, 0] { add(size, bytes: 4) }
        // Rows run from the bottom up. A pixel is blue, green, red. Each row is padded to a multiple of four bytes.
        for row in 0..<height {
            for column in 0..<width {
                let (red, green, blue) = color(column, row)
                for part in [blue, green, red] { bytes.append(UInt8(truncatingIfNeeded: part)) }
            }
            bytes += Data(count: stride - width * 3)
        }
        return bytes
    }
}
