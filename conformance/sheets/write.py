"""Writes workbooks into the folder that is given, with openpyxl, and prints what openpyxl itself reads back."""

import datetime
import json
import random
import sys

import openpyxl
from openpyxl.utils.datetime import CALENDAR_MAC_1904, to_excel

folder = sys.argv[1]
seeded = random.Random(7)
letters = "aZ0 _<>&\"'\n\té漢🙂=+-.,"


def made(kind):
    if kind == "text":
        # A text that starts with = would be written as a formula.
        return "t" + "".join(seeded.choice(letters) for _ in range(seeded.randrange(12)))
    if kind == "number":
        return seeded.choice([seeded.uniform(-1e6, 1e6), seeded.randrange(-10**9, 10**9), 1e-300, 1.5e300, 0.1])
    if kind == "truth":
        return seeded.random() < 0.5
    if kind == "error":
        return seeded.choice(["#DIV/0!", "#N/A", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
    if kind == "day":
        return datetime.datetime(seeded.randrange(1905, 2100), seeded.randrange(1, 13), seeded.randrange(1, 29))
    return seeded.choice(["=A1+1", "=SUM(A:A)", '=IF(B2="x",1,0)', '=COUNTIF($A$1:B3,">1")&"<"'])


def plain(cell, epoch):
    """The value of a cell as JSON, with its kind."""
    value = cell.value
    if value is None:
        return None
    if cell.data_type == "f":
        return {"kind": "formula", "value": value}
    if isinstance(value, (datetime.datetime, datetime.date)):
        return {"kind": "day", "value": to_excel(value, epoch)}
    if cell.data_type == "e":
        return {"kind": "error", "value": value}
    return {"kind": type(value).__name__, "value": value}


files = []
for index in range(30):
    book = openpyxl.Workbook()
    if index % 3 == 2:
        book.epoch = CALENDAR_MAC_1904
    for name in ["Sheet", "Zwei <&> 'x'"][: 1 + index % 2]:
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for row in range(1, 21):
            for column in range(1, 9):
                kind = seeded.choice(["text", "number", "truth", "error", "day", "formula", None])
                if kind is not None:
                    sheet.cell(row, column).value = made(kind)
        sheet.cell(25, 2).number_format = "0.00"
        sheet.merge_cells("J1:K2")
        sheet["J1"] = "joined"
    path = f"{folder}/book-{index}.xlsx"
    book.save(path)
    back = openpyxl.load_workbook(path)
    sheets = {
        sheet.title: {
            cell.coordinate: plain(cell, book.epoch)
            for cells in sheet.iter_rows()
            for cell in cells
            if cell.value is not None
        }
        for sheet in back
    }
    files.append({"path": path, "mac": back.epoch == CALENDAR_MAC_1904, "sheets": sheets})
print(json.dumps({"openpyxl": openpyxl.__version__, "files": files}))
