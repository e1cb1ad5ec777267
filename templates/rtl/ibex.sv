// The core Ibex with memory of one cycle: an access that it asks for is granted at once, and what is
// read comes in the next cycle. The testbench gives the words. The parameters are those of Ibex's
// configuration "small", with protection of memory beside it, which takes no cycles.
module board (
  input  logic        clock,
  input  logic        running,
  input  logic [31:0] boot,
  output logic        code_asked,
  output logic [31:0] code_address,
  input  logic [31:0] code_word,
  output logic        data_asked,
  output logic        data_written,
  output logic [3:0]  data_bytes,
  output logic [31:0] data_address,
  output logic [31:0] data_out,
  input  logic [31:0] data_in,
  // of the instruction that retires
  output logic        retired,
  output logic        trapped,
  output logic [31:0] instruction,
  output logic [31:0] retired_at,
  output logic [63:0] mcycle
);
  logic code_given;
  logic data_given;

  always_ff @(posedge clock or negedge running) begin
    if (!running) begin
      code_given <= 1'b0;
      data_given <= 1'b0;
    end else begin
      code_given <= code_asked;
      data_given <= data_asked;
    end
  end

  ibex_top #(
    .PMPEnable(1'b1),
    .PMPNumRegions(4),
    .RV32M(ibex_pkg::RV32MFast),
    .RV32B(ibex_pkg::RV32BNone),
    .BranchTargetALU(1'b0),
    .WritebackStage(1'b0),
    .ICache(1'b0),
    .BranchPredictor(1'b0),
    .SecureIbex(1'b0)
  ) core (
    .clk_i(clock),
    .rst_ni(running),
    .test_en_i(1'b0),
    .scan_rst_ni(1'b1),
    .ram_cfg_i(prim_ram_1p_pkg::RAM_1P_CFG_DEFAULT),
    .hart_id_i(32'd0),
    .boot_addr_i(boot),
    .instr_req_o(code_asked),
    .instr_gnt_i(code_asked),
    .instr_rvalid_i(code_given),
    .instr_addr_o(code_address),
    .instr_rdata_i(code_word),
    .instr_rdata_intg_i(7'd0),
    .instr_err_i(1'b0),
    .data_req_o(data_asked),
    .data_gnt_i(data_asked),
    .data_rvalid_i(data_given),
    .data_we_o(data_written),
    .data_be_o(data_bytes),
    .data_addr_o(data_address),
    .data_wdata_o(data_out),
    .data_rdata_i(data_in),
    .data_rdata_intg_i(7'd0),
    .data_err_i(1'b0),
    .irq_software_i(1'b0),
    .irq_timer_i(1'b0),
    .irq_external_i(1'b0),
    .irq_fast_i(15'd0),
    .irq_nm_i(1'b0),
    .scramble_key_valid_i(1'b0),
    .scramble_key_i('0),
    .scramble_nonce_i('0),
    .debug_req_i(1'b0),
    .fetch_enable_i(ibex_pkg::IbexMuBiOn),
    .rvfi_valid(retired),
    .rvfi_trap(trapped),
    .rvfi_insn(instruction),
    .rvfi_pc_rdata(retired_at),
    .rvfi_ext_mcycle(mcycle)
  );
endmodule
